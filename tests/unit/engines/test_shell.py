"""Shell text: what it runs, against a real shell; and what only a running shell can know."""

from __future__ import annotations

import subprocess
from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.engines.pods import runs

# "show" prints its arguments; "hidden" runs nothing.
PRELUDE = """show() { printf 'show'; printf '<%s>' "$@"; echo; }\n"""

SCRIPTS = {
    "plain": "show a b",
    "quotes": "show 'a b' \"c d\" e\\ f 'g'\"h\"i",
    "empty-words": "show '' \"\" a",
    "line-continuation": "show a \\\n  b \\\n  c",
    "continuation-inside-a-word": "show ab\\\ncd",
    "comment": "# show x\nshow a # show y\nshow a#b",
    "lists": "show a; show b && show c || show d",
    "background": "show a & wait; show b",
    "pipeline": "show a | cat",
    "redirections": "show a > /dev/null; show b 2>&1; show c 2>/dev/null",
    "here-document": "cat > /dev/null <<EOF\nshow hidden\nEOF\nshow a",
    "here-document-with-tabs": "cat > /dev/null <<-'EOF'\n\tshow hidden\n\tEOF\nshow a",
    "variable": 'show $GREETING ${GREETING} "$GREETING"',
    "variable-of-several-words": 'show $WORDS "$WORDS"',
    "variable-joined": "show --a=$GREETING/$NUMBER",
    "empty-variable": 'show $EMPTY "$EMPTY" a',
    "default": "show ${NOWHERE:-d} ${EMPTY:-e} ${EMPTY-f} ${NUMBER:-g}",
    "default-with-a-variable": 'show "${NOWHERE:-$GREETING b}"',
    "default-of-a-default": "show ${NOWHERE:-${NOWHERE2:-z}}",
    "alternative": "show ${NUMBER:+set} ${EMPTY:+set} ${EMPTY+set} x",
    "assigned-default": ": ${NOWHERE:=n}; show $NOWHERE",
    "assignment": 'A=1; B="$A 2"; show $B "$B"',
    "export": "export A=1 B='2 3'; show $A \"$B\"",
    "assignment-before-a-chain": "export A=1 && show $A; show $A",
    "assignment-for-one-command": "A=1; A=2 show x; show $A",
    "appended-assignment-of-posix": "A=1; A=${A}2; show $A",
    "unset": "A=1; unset A; show ${A:-gone}",
    "double-quoted-escapes": 'show "a\\"b" "\\$GREETING" "c\\d" "\\`"',
    "single-quoted-dollar": "show '$GREETING' '`x`'",
    "positional": 'show "$0" $1 "${2}"',
    "all-positional": 'show "$@"; show a"$@"b',
    "set-positional": 'set -- x "y z"; show "$@"',
    "grouping": "{ show a; show b; }",
    "subshell": "(show a; show b)",
    "condition": "if true; then show a; fi",
    "semicolons-in-quotes": "show 'a;b' \"c&&d\" e\\;f",
    "json": 'show \'{"a": [1, 2]}\' "{\\"b\\": {}}"',
    "dollar-alone": 'show $ a$ "$"',
}
ENVIRONMENT = {"GREETING": "hello", "NUMBER": "7", "WORDS": " --a  1\t--b ", "EMPTY": ""}
POSITIONAL = ["name", "one", "two words"]


def ours(script: str) -> list[list[str]]:
    env = "\n".join(f"- {{name: {name}, value: {value!r}}}" for name, value in ENVIRONMENT.items())
    text = f"command: [sh, -c, {_quoted(script)}, {', '.join(map(_quoted, POSITIONAL))}]\nenv:\n"
    lines = runs(text + env.replace("'", '"')).lines
    shown = [line.words for line in lines if line.words[0].text == "show"]
    assert not any(word.missing for words in shown for word in words)
    return [[word.text for word in words[1:]] for words in shown]


def _quoted(text: str) -> str:
    import json

    # YAML reads JSON's strings; "$" is doubled against Kubernetes' own expansion.
    return json.dumps(text.replace("$", "$$"))


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS.keys())
def test_words_are_those_of_a_real_shell(script: str) -> None:
    done = subprocess.run(
        ["sh", "-c", PRELUDE + script, *POSITIONAL],
        env={**ENVIRONMENT, "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    theirs = [line.removeprefix("show") for line in done.stdout.splitlines() if line]
    followed = ["".join(f"<{word}>" for word in words) for words in ours(script)]
    # What ran into /dev/null, or behind "||", is followed too; the rest is in the same order.
    assert [line for line in followed if line in theirs] == theirs
    unheard = [line for line in followed if line not in theirs]
    assert len(unheard) == {"lists": 1, "redirections": 1}.get(_id(script), 0)


def _id(script: str) -> str:
    return next(key for key, value in SCRIPTS.items() if value == script)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["a", " ", "  ", "'", '"', "\\", "$X", "${X}", "\n", "b=c", "-", "#", "\\\n", "$"]
        ),
        max_size=14,
    )
)
def test_quoting_is_that_of_a_real_shell(pieces: list[str]) -> None:
    script = f"printf '<%s>' {''.join(pieces)}"
    done = subprocess.run(
        ["sh", "-c", script],
        env={"X": "x y", "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    spec = f"command: [sh, -c, {_quoted(script)}]\nenv: [{{name: X, value: x y}}]"
    lines = runs(spec).lines
    printed = [line.words[2:] for line in lines if line.words[0].text == "printf"]
    if any(word.missing for words in printed for word in words):
        # A variable that nothing sets: empty there, unknown here.
        return
    # printf prints the format once when it has no arguments. A line that is broken prints nothing.
    followed = "".join("".join(f"<{word.text}>" for word in words) or "<>" for words in printed)
    assert followed == done.stdout


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("show $(date)", 'only a running shell knows "$(date)"'),
        ("show `date`", 'only a running shell knows "`date`"'),
        ("show $((1 + 1))", 'only a running shell knows "$((1 + 1))"'),
        ("show ${A%.gguf}", 'only a running shell knows "${A%.gguf}"'),
        ("show *.gguf", 'only a running shell knows "*.gguf"'),
        ("show a{b,c}", 'only a running shell knows "a{b,c}"'),
        ("show $HOSTNAME", 'nothing in the container sets "HOSTNAME"'),
        ("show $$", "only a running shell knows $$"),
        ("if x; then A=1; fi; show $A", '"A" is set by the script only under a condition'),
        ("[ -d x ] && A=1; show $A", '"A" is set by the script only under a condition'),
        ("x || A=1; show $A", '"A" is set by the script only under a condition'),
        ("(A=1); show $A", '"A" is set by the script only under a condition'),
        ("read A; show $A", '"A" is set by the script only under a condition'),
        ("for A in 1 2; do show $A; done", '"A" is set by the script only under a condition'),
        ("A=(1 2); show $A", '"A" is set by the script only under a condition'),
        ("f() { show $1; }; f x", "a shell function's arguments are not followed"),
    ],
)
def test_what_only_a_running_shell_knows(script: str, why: str) -> None:
    lines = runs(f"command: [bash, -c, {_quoted(script)}]").lines
    (shown,) = [line.words for line in lines if line.words[0].text == "show"]
    assert [word.missing for word in shown[1:]] == [why]


@pytest.mark.parametrize(
    "script",
    [
        pytest.param("show 'a", id="quote"),
        pytest.param('show "a', id="double-quote"),
        pytest.param("show $(a", id="substitution"),
        pytest.param("show ${a:-b", id="parameter"),
        pytest.param("show " + "${a:-" * 5000 + "}" * 5000, id="nested-too-deep"),
        pytest.param("A=1;" * 40000 + "show a", id="longer-than-an-argument-may-be"),
        pytest.param("A=1;" * 5000 + "show a", id="more-assignments-than-are-followed"),
    ],
)
def test_broken_commands_are_not_run(script: str) -> None:
    lines = runs(f"command: [sh, -c, {_quoted('show first' + chr(10) + script)}]").lines
    shown = [[word.text for word in line.words] for line in lines]
    assert ["show", "a"] not in shown


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("command: [sh, -c, show a]", "word 2 of command[2]", id="one-line"),
        pytest.param(
            dedent("""
            command: [bash, -euxo, pipefail, -c]
            args:
            - |
              set -e
              show \\
                a
            """),
            "word 1 in line 3 of args[0]",
            id="several-lines",
        ),
        pytest.param(
            "command: [sh, -c, 'exec env X=1 nohup sh -c \"show a\"']",
            "word 2 of command line word 7 of command[2]",
            id="shell-in-a-shell",
        ),
    ],
)
def test_origins_of_words(text: str, expected: str) -> None:
    (line,) = [line for line in runs(text).lines if line.words[0].text == "show"]
    assert line.words[1].origin == f"container main, command line {expected}"


@pytest.mark.parametrize(
    "start",
    [
        "exec",
        "exec -a name",
        "env A=1 B=2",
        "env -u HOME --",
        "nohup",
        "time",
        "tini -s --",
        "/usr/bin/dumb-init --",
        "timeout -k 5 60",
        "nice -n 5",
        "stdbuf -oL",
        "numactl --cpunodebind=0 --membind=0",
        "numactl -N 0 -m 0",
        "sudo -u user",
        "uv run --with x",
        "conda run -n env",
        "busybox sh -c 'show a' x; :",
        "/opt/nvidia/nvidia_entrypoint.sh",
    ],
)
def test_programs_that_only_start_another(start: str) -> None:
    script = start if "show" in start else f"{start} show a"
    lines = runs(f"command: [sh, -c, {_quoted(script)}]").lines
    assert ["show", "a"] in [[word.text for word in line.words] for line in lines]
