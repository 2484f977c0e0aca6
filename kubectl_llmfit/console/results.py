"""What a command that changes workloads reads, writes and prints of them, in files or a cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from kubectl_llmfit.cluster.api import CLIENT, SERVER, Api
from kubectl_llmfit.cluster.kubectl import Kubectl
from kubectl_llmfit.console import formats, objects, streams, workload_flags
from kubectl_llmfit.console.cluster_flags import handed_on
from kubectl_llmfit.console.patched import Voice, report, tell, unsaid
from kubectl_llmfit.core.reasons import Problem, Refused
from kubectl_llmfit.patching.changing import Outcome, Tell, Writer, silent
from kubectl_llmfit.patching.decided import Decided, as_dict
from kubectl_llmfit.patching.decided import objects as objects_of
from kubectl_llmfit.patching.live import template_as_it_is

if TYPE_CHECKING:
    # Only for types: what reads files is loaded where there is a file to read.
    from kubectl_llmfit.files.sources import Source
    from kubectl_llmfit.patching.manifests import Patched


def sources(
    ctx: click.Context, given: Mapping[str, Any]
) -> tuple[tuple[Source, ...], tuple[Problem, ...]]:
    """The manifests of -f, or what kustomize builds from the folder of -k; and what is unread."""
    from kubectl_llmfit.files.sources import built, read_all

    if given["kustomize"]:
        from kubectl_llmfit.cluster.kustomize import build

        text = build(Kubectl(handed_on(ctx), streams.note), given["kustomize"])
        return (built(text, given["kustomize"]),), ()
    found, refused = read_all(given["filenames"], given["recursive"])
    return found, refused.problems if refused is not None else ()


def of_manifests(
    ctx: click.Context, changed: Sequence[Patched], given: Mapping[str, Any], done: str
) -> None:
    """Prints or writes back what the flags ask for of ``changed``, and ends the command."""
    from kubectl_llmfit.files.writing import write_back
    from kubectl_llmfit.patching.manifests import joined

    decided = [each for one in changed for each in one.decided]
    for each in decided if not given["as_json"] else ():
        for consequence in each.consequences:
            tell(each.name, consequence)
    code = 0
    if given["as_json"]:
        _print_decisions(decided)
    elif given["diff"]:
        code = _show_files(changed)
    elif given["output"]:
        streams.write(objects.text(objects_of(decided), given["output"]))
    elif given["in_place"]:
        for one in changed:
            write_back(one.source, one.text, given["backup"])
    else:
        streams.write(joined([one.text for one in changed]))
    say = voice(given, done, of_files=True)
    for each in decided if not given["as_json"] else ():
        report(say, each)
    ctx.exit(code)


def writer(ctx: click.Context, given: Mapping[str, Any]) -> Writer:
    """How the cluster is written to; decisions alone and differences write nothing."""
    dry_run = CLIENT if given["as_json"] else SERVER if given["diff"] else given["dry_run"]
    api = Api(Kubectl(handed_on(ctx), streams.note))
    return Writer(api, dry_run, given["force"], given["field_manager"])


def teller(given: Mapping[str, Any]) -> Tell:
    """What says a change's consequences before it is made; decisions hold them themselves."""
    return silent if given["as_json"] else tell


def said(outcome: Outcome, voice: Voice, given: Mapping[str, Any]) -> Outcome:
    """The outcome, after its line has been said."""
    if outcome.decided is not None and not given["as_json"]:
        report(voice, outcome.decided, changes_nothing=outcome.changes_nothing)
    return outcome


def of_cluster(
    writer: Writer,
    outcomes: Sequence[Outcome],
    problems: Sequence[Problem],
    given: Mapping[str, Any],
) -> int:
    """Prints what the flags ask for of all workloads together; the exit code.

    Raises:
        Refused: ``problems``, those of the outcomes, and what can't be printed.
    """
    code = 0
    found = list(problems)
    try:
        code = _print_live(writer, outcomes, given)
    except Refused as refused:
        found += refused.problems
    found += [problem for each in outcomes for problem in each.problems]
    if len(outcomes) > 1 and found:
        failed = sum(bool(each.problems) for each in outcomes)
        streams.note(f"{len(outcomes) - failed} of {len(outcomes)} workloads done.")
    if found:
        raise Refused(found)
    return code


def voice(given: Mapping[str, Any], done: str, *, of_files: bool = False) -> Voice:
    """Messages are the result only where nothing else is printed, as kubectl has it."""
    sources = given.get("show_sources", False)
    if given["diff"]:
        return Voice(unsaid, streams.note, done, show_sources=sources)
    say = streams.note if of_files or given["output"] else streams.line
    return Voice(say, say, done, workload_flags.SUFFIXES[given["dry_run"]], sources)


def _show_files(changed: Sequence[Patched]) -> int:
    from kubectl_llmfit.console import differences

    texts = [(one.source.manifest.name, one.source.manifest.text, one.text) for one in changed]
    return differences.show(differences.of_files(texts))


def _print_live(writer: Writer, outcomes: Sequence[Outcome], given: Mapping[str, Any]) -> int:
    done = [each for each in outcomes if each.objects]
    if given["as_json"]:
        _print_decisions([each.decided for each in done if each.decided is not None])
    elif given["diff"]:
        return _show_live(writer, done)
    elif given["output"] and (done or not outcomes):
        streams.write(objects.text([each.objects[-1] for each in done], given["output"]))
    return 0


def _show_live(writer: Writer, outcomes: Sequence[Outcome]) -> int:
    from kubectl_llmfit.console import differences

    states = []
    for outcome in outcomes:
        *templates, workload = outcome.objects
        states += [
            differences.of_object(template_as_it_is(writer.api, each), each) for each in templates
        ]
        states.append(differences.of_object(outcome.before, workload))
    return differences.show(states)


def _print_decisions(decided: Sequence[Decided]) -> None:
    streams.write(formats.as_json([shown for each in decided for shown in as_dict(each)]))
