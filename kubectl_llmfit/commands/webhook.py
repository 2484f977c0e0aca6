"""``kubectl llmfit webhook``: the admission webhook put into a cluster, taken away, looked at."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import click

from kubectl_llmfit.cluster.api import (
    CLIENT,
    DRY_RUNS,
    FIELD_MANAGER,
    NO_DRY_RUN,
    SERVER,
    Api,
    Object,
)
from kubectl_llmfit.cluster.kubectl import Kubectl
from kubectl_llmfit.cluster.names import object_name
from kubectl_llmfit.console import formats, objects, streams
from kubectl_llmfit.console.cluster_flags import handed_on, kubectl_flags
from kubectl_llmfit.console.command import KubectlCommand, KubectlGroup
from kubectl_llmfit.console.completion import one_of
from kubectl_llmfit.console.table import table
from kubectl_llmfit.core import reasons
from kubectl_llmfit.core.reasons import quoted, refuse
from kubectl_llmfit.installing import manifests

_SUFFIXES = {NO_DRY_RUN: "", CLIENT: " (dry run)", SERVER: " (server dry run)"}
_TRUE_OR_FALSE = ("true", "false")
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600}

group = KubectlGroup(
    name="webhook",
    help="Put the admission webhook into a cluster, take it away, and see whether it works.\n\n"
    "With it, a pod that is annotated llmfit.ai/model gets its claim as it is created, whoever "
    "creates it.",
    modules={
        "install": ("kubectl_llmfit.commands.webhook:install", "Put the webhook into the cluster"),
        "uninstall": ("kubectl_llmfit.commands.webhook:uninstall", "Take it away again"),
        "status": ("kubectl_llmfit.commands.webhook:status", "Show whether it works"),
    },
)

_dry_run = click.option(
    "--dry-run",
    default=NO_DRY_RUN,
    help="Change nothing in the cluster. One of: (none, client, server).",
    shell_complete=one_of(DRY_RUNS),
)


@click.command(
    cls=KubectlCommand,
    bare={"--dry-run": CLIENT, "--wait": "true"},
    examples="""
        # Put the webhook into the cluster, and wait until it serves
        kubectl llmfit webhook install

        # Refuse annotated pods while it can't be asked, and send it only the pods of namespaces
        # that are labelled llmfit.ai/inject=enabled
        kubectl llmfit webhook install --overlay fail-closed --overlay opt-in

        # Print the manifests, for GitOps
        kubectl llmfit webhook install --dry-run=client -o yaml
    """,
)
@click.option(
    "--overlay",
    "overlays",
    multiple=True,
    metavar="NAME",
    help=f"Change to the manifests. One of: ({', '.join(manifests.OVERLAYS)}). May be repeated.",
    shell_complete=one_of(manifests.OVERLAYS),
)
@click.option("--image", help="Image of the webhook. If empty, the released one of this version.")
@click.option("--replicas", help="Number of replicas. If empty, that of the manifests: 2.")
@_dry_run
@click.option(
    "--wait",
    default="true",
    help="Wait until the server is ready before the API server is told of it. One of: (true, "
    "false).",
    shell_complete=one_of(_TRUE_OR_FALSE),
)
@click.option("--timeout", default="2m", help="Longest wait, such as 90s or 5m.")
@click.option(
    "--field-manager",
    default=FIELD_MANAGER,
    help="Name of the manager that owns the applied fields.",
)
@click.option(
    "--force-conflicts", is_flag=True, help="Take over fields that another manager has set."
)
@click.option(
    "-o",
    "--output",
    help=f"Output format. One of: ({', '.join(formats.OBJECT_FORMATS)}). If empty, a line an "
    "object.",
    shell_complete=one_of(formats.OBJECT_FORMATS),
)
@kubectl_flags
@click.pass_context
def install(ctx: click.Context, /, overlays: Sequence[str], **given: Any) -> None:
    """Put the admission webhook into the cluster, or change the one that is there.

    The server comes first, and the configuration that sends pods to it once it is ready. Running
    it again changes only what differs; objects of overlays that are left out are taken away.
    """
    for overlay in overlays:
        formats.check_one_of("--overlay", overlay, manifests.OVERLAYS)
    formats.check_one_of("--dry-run", given["dry_run"], DRY_RUNS)
    formats.check_one_of("--wait", given["wait"], _TRUE_OR_FALSE)
    formats.check(given["output"], formats.OBJECT_FORMATS)
    wait_seconds = _seconds(given["timeout"]) if given["wait"] == "true" else 0
    if not wait_seconds and "fail-closed" in overlays and given["dry_run"] == NO_DRY_RUN:
        raise click.UsageError(
            "--overlay fail-closed needs --wait=true: until the server is ready it would have "
            "annotated pods refused",
            ctx,
        )
    wanted = manifests.objects(
        dict.fromkeys(overlays),
        image=given["image"] or None,
        replicas=_replicas(given["replicas"]),
    )
    gone: list[str] = []
    if given["dry_run"] != CLIENT:
        from kubectl_llmfit.installing.install import Installer

        installer = Installer(
            Api(Kubectl(handed_on(ctx), streams.note)),
            dry_run=given["dry_run"] == SERVER,
            wait_seconds=wait_seconds,
            field_manager=given["field_manager"],
            force_conflicts=given["force_conflicts"],
        )
        done = installer.install(wanted)
        if missing := len(wanted) - len(done.made):
            streams.note(
                f"{missing} objects were not tried: namespace {manifests.NAMESPACE} is not there."
            )
        wanted, gone = done.made, done.gone
    _print(wanted, given["output"], f"applied{_SUFFIXES[given['dry_run']]}")
    if not given["output"]:
        _print_gone(gone, given["dry_run"])


@click.command(
    cls=KubectlCommand,
    bare={"--dry-run": CLIENT},
    examples="""
        # Take the webhook away; no pod waits for it at any moment
        kubectl llmfit webhook uninstall

        # See what that would take away
        kubectl llmfit webhook uninstall --dry-run=server
    """,
)
@_dry_run
@kubectl_flags
@click.pass_context
def uninstall(ctx: click.Context, /, dry_run: str, **_global: Any) -> None:
    """Take the admission webhook away, its configuration first, so that no pod waits for it.

    What is missing already is no error. The ResourceClaimTemplates that it made go with it, but
    for those that a pod still names.
    """
    formats.check_one_of("--dry-run", dry_run, DRY_RUNS)
    if dry_run == CLIENT:
        _print_gone(map(object_name, reversed(manifests.every_object())), dry_run)
        return
    from kubectl_llmfit.installing import uninstall as uninstalling

    api = Api(Kubectl(handed_on(ctx), streams.note))
    removed = uninstalling.uninstall(api, dry_run=dry_run == SERVER)
    _print_gone(removed.names, dry_run)
    if not removed.names:
        streams.note("Nothing of the webhook is there.")
    for template in removed.kept_templates:
        streams.note(f"resourceclaimtemplate {template} stays: a pod names it.")
    if removed.kept_templates:
        streams.note("Run the command again when those pods are gone.")
    if removed.templates_unread:
        streams.warn(f"ResourceClaimTemplates were not looked at: {removed.templates_unread}")


@click.command(
    cls=KubectlCommand,
    examples="""
        # See on one screen whether annotated pods get their claims; exit code 1 where they don't
        kubectl llmfit webhook status

        # Try a pod of another namespace, and get the result for a program
        kubectl llmfit webhook status -n default -o json
    """,
)
@click.option(
    "-n",
    "--namespace",
    help="Namespace in which a pod is tried. If empty, that of the current context.",
)
@click.option(
    "-o",
    "--output",
    help="Output format. One of: (json). If empty, a table.",
    shell_complete=one_of(("json",)),
)
@kubectl_flags
@click.pass_context
def status(ctx: click.Context, /, output: str | None, **_global: Any) -> None:
    """Show whether the admission webhook works: its parts, and a pod tried through the API server.

    The pod is a dry run: nothing is stored. The exit code is 0 where it works, and 1 where not.
    """
    formats.check(output, ("json",))
    from kubectl_llmfit.installing import status as looking

    warned: list[str] = []

    def warnings() -> list[str]:
        said = [each.removeprefix("Warning: ") for each in warned]
        warned.clear()
        return said

    checks = looking.status(Api(Kubectl(handed_on(ctx), warned.append)), warnings)
    working = looking.works(checks)
    if output == "json":
        rows = [{"name": each.name, "state": each.state, "detail": each.detail} for each in checks]
        streams.write(formats.as_json({"works": working, "checks": rows}))
    else:
        cells = [(each.name, each.state, reasons.printable(each.detail)) for each in checks]
        streams.write(table(("CHECK", "STATE", "DETAIL"), cells))
    if not working:
        ctx.exit(1)


def _print(items: Sequence[Object], output: str | None, done: str) -> None:
    """``items`` as kubectl prints several, or a line each that says what was ``done``."""
    if output:
        streams.write(objects.text(items, output))
    else:
        for each in items:
            streams.line(f"{object_name(each)} {done}")


def _print_gone(names: Iterable[str], dry_run: str) -> None:
    for name in names:
        streams.line(f"{name} deleted{_SUFFIXES[dry_run]}")


def _seconds(text: str) -> int:
    """A duration as kubectl takes it, in its common forms; whole seconds above 0."""
    found = re.fullmatch(r"(\d{1,6})([smh]?)", text)
    seconds = int(found.group(1)) * _SECONDS[found.group(2)] if found else 0
    if not seconds:
        sentence = f"--timeout: {quoted(text)} is no duration; give one such as 90s or 5m"
        raise refuse(reasons.INVALID_VALUE, sentence)
    return seconds


def _replicas(text: str | None) -> int | None:
    if not text:
        return None
    if not re.fullmatch(r"[1-9]\d{0,2}", text):
        sentence = f"--replicas: {quoted(text)} is no number of replicas; give one from 1 to 999"
        raise refuse(reasons.INVALID_VALUE, sentence)
    return int(text)
