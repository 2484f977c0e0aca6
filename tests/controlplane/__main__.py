"""``python -m tests.controlplane``: build the programs; a cluster to play with, up and down."""

import argparse
import shutil
import sys

from tests.controlplane import playground
from tests.controlplane.binaries import find_programs
from tests.controlplane.build import BuildError, build_program
from tests.controlplane.versions import asked_for, resolve


def main() -> int:
    """Run one command; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.controlplane", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in (
        ("build", "build etcd and Kubernetes into the cache, unless they are there"),
        ("up", "start a cluster with sample nodes in the background"),
        ("serve", "the same in the foreground, until Ctrl-C"),
    ):
        command = commands.add_parser(name, help=text)
        command.add_argument(
            "version", nargs="?", help="such as 1.34 (default: LLMFIT_K8S_VERSION, then v1.37.2)"
        )
    commands.add_parser("down", help="stop it; nothing is left")
    commands.add_parser("status", help="say whether one is up")
    arguments = parser.parse_args()
    try:
        return _run(arguments.command, getattr(arguments, "version", None))
    except (BuildError, ValueError, RuntimeError, AssertionError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _run(command: str, asked: str | None) -> int:
    version = resolve(asked) if asked else asked_for()
    match command:
        case "build":
            print(build_program(version))
        case "serve":
            playground.serve(version, _show)
        case "up":
            return _up(version)
        case "down":
            state = playground.stop()
            _say(f"stopped Kubernetes {state.version}" if state else "no cluster is up")
        case "status":
            state = playground.running()
            if state is None:
                _say("no cluster is up")
                return 1
            _show(state)
    return 0


def _up(version: str) -> int:
    state = playground.running()
    if state and state.version != version:
        raise RuntimeError(f"Kubernetes {state.version} is up; take it down first")
    if state is None:
        find_programs(version)  # builds here, where its progress is seen
        state = playground.start(version)
    _show(state)
    return 0


def _show(state: playground.State) -> None:
    """Comments to the terminal, settings to standard output, so that a shell can eval them."""
    _say(f"Kubernetes {state.version} is up (process {state.pid}, logs in {state.log})")
    print(f"export KUBECONFIG={state.kubeconfig}", flush=True)
    if shutil.which("kubectl") is None:
        print(f"export PATH={state.bin}:$PATH")


def _say(text: str) -> None:
    print(text, file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
