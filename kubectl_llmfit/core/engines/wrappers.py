"""Finds the program that a command line runs behind programs that only start another one.

Such as ``env A=b nohup python3 -m module``. Sources: the manual pages env(1), nohup(1), timeout(1),
nice(1), ionice(1), stdbuf(1), numactl(8), taskset(1), sudo(8); krallin/tini README.md;
Yelp/dumb-init README.md; astral-sh/uv docs/reference/cli.md; NVIDIA/TensorRT-LLM
tensorrt_llm/llmapi/trtllm-llmapi-launch.
"""

from __future__ import annotations

from collections.abc import Sequence

from kubectl_llmfit.core.engines.environment import Variable
from kubectl_llmfit.core.engines.fields import Word
from kubectl_llmfit.core.engines.syntax import NAME

# Program → the options of it that take a word of their own.
_STARTERS: dict[str, frozenset[str]] = {
    "exec": frozenset({"-a"}),
    "command": frozenset(),
    "env": frozenset({"-u", "--unset", "-C", "--chdir"}),
    "nohup": frozenset(),
    "setsid": frozenset(),
    "time": frozenset({"-f", "-o"}),
    "tini": frozenset({"-p", "-e"}),
    "dumb-init": frozenset({"-r", "--rewrite"}),
    "catatonit": frozenset(),
    "timeout": frozenset({"-k", "--kill-after", "-s", "--signal"}),
    "nice": frozenset({"-n", "--adjustment"}),
    "ionice": frozenset({"-c", "--class", "-n", "--classdata"}),
    "stdbuf": frozenset({"-i", "-o", "-e"}),
    "numactl": frozenset({"-N", "-m", "-i", "-p", "-C", "--cpunodebind", "--membind"}),
    "taskset": frozenset(),
    "sudo": frozenset({"-u", "-g"}),
    "gosu": frozenset(),
    "nvidia_entrypoint.sh": frozenset(),
    "docker-entrypoint.sh": frozenset(),
    "trtllm-llmapi-launch": frozenset(),
    "opentelemetry-instrument": frozenset(),
}
# Programs whose first word that is no option belongs to themselves.
_WITH_OPERAND = frozenset({"timeout", "taskset", "gosu"})
# Programs that run another one only behind a word of their own.
_SUBCOMMANDS: dict[str, frozenset[str]] = {
    "uv": frozenset({"--with", "--python", "-p", "--project", "--extra", "--directory"}),
    "conda": frozenset({"-n", "--name", "-p", "--prefix", "--cwd"}),
    "micromamba": frozenset({"-n", "--name", "-p", "--prefix", "--cwd"}),
    "poetry": frozenset(),
    "pipenv": frozenset(),
}
_PYTHON_WITH_WORD = frozenset({"-X", "-W", "--check-hash-based-pycs"})


def program(word: Word) -> str:
    """The name of the program that ``word`` names, without its folder; empty when unknown."""
    return "" if word.missing else word.text.rsplit("/", 1)[-1]


def unwrap(words: Sequence[Word]) -> tuple[Sequence[Word], dict[str, Variable]]:
    """The command line behind starters such as ``exec`` and ``env``, and what those set."""
    variables: dict[str, Variable] = {}
    while words:
        name = program(words[0])
        rest = words[1:]
        if name in _SUBCOMMANDS and rest and rest[0].text == "run":
            words = _skip_options(rest[1:], _SUBCOMMANDS[name])
        elif name in _STARTERS:
            words = _skip_options(rest, _STARTERS[name])
            if name == "env":
                words = _take_assignments(words, variables)
            elif name in _WITH_OPERAND:
                words = words[1:]
        else:
            break
    return words, variables


def python_module(words: Sequence[Word]) -> tuple[str, Sequence[Word]] | None:
    """The module that ``python -m MODULE …`` runs, and its arguments."""
    if not words or not program(words[0]).startswith("python"):
        return None
    position = 1
    while position < len(words):
        text = words[position].text
        if text == "-m" and position + 1 < len(words):
            return words[position + 1].text, words[position + 2 :]
        if not text.startswith("-") or text in {"-c", "-"}:
            return None
        position += 2 if text in _PYTHON_WITH_WORD else 1
    return None


def shell_script(words: Sequence[Word]) -> tuple[Word, Sequence[Word]] | None:
    """The text that ``sh -c TEXT NAME ARGUMENT …`` runs, and the words behind it."""
    name = program(words[0]) if words else ""
    if name == "busybox" and len(words) > 1:
        words, name = words[1:], program(words[1])
    if name not in {"sh", "bash", "ash", "dash", "ksh", "zsh"}:
        return None
    is_command = False
    position = 1
    while position < len(words):
        text = words[position].text
        if text[:1] not in {"-", "+"} or text in {"-", "--"}:
            position += text in {"-", "--"}
            break
        # Options may be joined: -euxo pipefail -c, -lc. Only "o" and "O" take a word.
        if not text.startswith("--"):
            is_command = is_command or "c" in text
            position += text[-1] in "oO"
        position += 1
    if not is_command or position >= len(words):
        return None
    return words[position], words[position + 1 :]


def _skip_options(words: Sequence[Word], with_word: frozenset[str]) -> Sequence[Word]:
    position = 0
    while position < len(words) and words[position].text.startswith("-"):
        text = words[position].text
        position += 2 if text in with_word else 1
        if text == "--":
            break
    return words[position:]


def _take_assignments(words: Sequence[Word], variables: dict[str, Variable]) -> Sequence[Word]:
    while words:
        name, equals, text = words[0].text.partition("=")
        if not equals or not NAME.fullmatch(name):
            break
        missing = words[0].missing
        variables[name] = Variable(None if missing else text, f"env {name}", missing)
        words = words[1:]
    return words
