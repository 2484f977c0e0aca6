"""The command line: its commands, and the only place where exceptions become exit codes."""

from __future__ import annotations

import os
import sys

import click

from kubectl_llmfit.console import streams
from kubectl_llmfit.console.command import PROGRAM, KubectlGroup
from kubectl_llmfit.console.completion import COMPLETE, complete
from kubectl_llmfit.core import reasons
from kubectl_llmfit.core.reasons import Problem, Refused

SUCCESS = 0
FAILURE = 1
# What a command fails with whose 1 says that there are differences, as kubectl diff.
TROUBLE = 2
_DIFF = "--diff"
# What a shell reports for a program that the signal ended, as kubectl itself ends.
INTERRUPTED = 130
BROKEN_PIPE = 141


@click.group(
    cls=KubectlGroup,
    name="llmfit",
    modules={
        "render": ("kubectl_llmfit.commands.render:command", "Print the claim that fits a model"),
        "patch": ("kubectl_llmfit.commands.patch:command", "Put claims into workloads"),
        "restore": ("kubectl_llmfit.commands.restore:command", "Undo what patch did"),
        "webhook": (
            "kubectl_llmfit.commands.webhook:group",
            "Give pods their claims as they are created",
        ),
        "models": ("kubectl_llmfit.commands.models:group", "Search the catalog and show a model"),
        "boards": ("kubectl_llmfit.commands.boards:command", "List the boards that are known"),
        "completion": (
            "kubectl_llmfit.commands.completion:group",
            "Put shell completion for kubectl llmfit on PATH",
        ),
        "version": ("kubectl_llmfit.commands.version:command", "Print version information"),
    },
)
def cli() -> None:
    """Put LLM workloads on accelerators that can run them.

    Say which model; llmfit turns it into Kubernetes Dynamic Resource Allocation: a claim with a
    memory floor and a bandwidth floor that the stock kube-scheduler evaluates.
    """


def main(arguments: list[str] | None = None) -> int:
    """Runs one command line and returns its exit code: 0, 1, or a signal's 130 or 141.

    With --diff, 1 says that there are differences, and a failure is 2.
    """
    words = sys.argv[1:] if arguments is None else arguments
    failure = TROUBLE if _DIFF in words else FAILURE
    try:
        streams.prepare()
        code = _run(words, failure)
        streams.flush()
        return code
    except BrokenPipeError:
        streams.abandon()
        return BROKEN_PIPE
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        streams.abandon_output()
        streams.report([_unexpected(error)])
        return failure


def _run(arguments: list[str], failure: int) -> int:
    try:
        if arguments[:1] == [COMPLETE]:
            # Before click reads the words: to it a lone "--" is no word but a mark.
            complete(cli, arguments[1:])
            return SUCCESS
        with cli.make_context(PROGRAM, list(arguments)) as ctx:
            cli.invoke(ctx)
        return SUCCESS
    except click.exceptions.Exit as ended:
        return ended.exit_code
    except Refused as refused:
        streams.report(refused.problems)
    except click.exceptions.NoArgsIsHelpError as asked:
        streams.write(f"{asked.format_message()}\n")
        return SUCCESS
    except click.UsageError as error:
        streams.report([Problem(reasons.BAD_USAGE, _lower_first(error.format_message()))])
        path = error.ctx.command_path if error.ctx is not None else PROGRAM
        streams.note(f"See '{path} --help' for usage.")
    except click.Abort:
        return INTERRUPTED
    except (KeyboardInterrupt, OSError):
        raise
    except Exception as error:
        if os.environ.get("KUBECTL_LLMFIT_TRACEBACK"):
            raise
        sentence = f"{type(error).__name__}: {error}; please report it with the command line"
        streams.report([Problem(reasons.INTERNAL_ERROR, sentence)])
    return failure


def _unexpected(error: OSError) -> Problem:
    """Files are checked where they are read, so what is left is the output, or our own data."""
    if error.filename is not None:
        sentence = f"{error.filename}: {error.strerror}; install kubectl-llmfit again"
        return Problem(reasons.INTERNAL_ERROR, sentence)
    return Problem(reasons.CANNOT_WRITE, f"standard output: {error.strerror}")


def _lower_first(sentence: str) -> str:
    """click's sentence as kubectl writes them: a small first letter, no full stop."""
    starts_a_word = sentence[1:2].islower()
    return (sentence[:1].lower() if starts_a_word else sentence[:1]) + sentence[1:].rstrip(".")
