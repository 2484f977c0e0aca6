"""Settings: flags over environment over file over defaults, and what is said of wrong ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from webhook.settings import BadSettingsError, read_settings


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def test_order_of_the_sources(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text("tls-port: 1\nplain-port: 1\nmax-in-flight: 1\ncatalog: [a.yaml]\n")
    monkeypatch.setenv("LLMFIT_WEBHOOK_CONFIG", str(file))
    monkeypatch.setenv("LLMFIT_WEBHOOK_TLS_PORT", "2")
    monkeypatch.setenv("LLMFIT_WEBHOOK_PLAIN_PORT", "2")
    settings = read_settings(["--tls-port=3"])
    assert (settings.tls_port, settings.plain_port, settings.max_in_flight) == (3, 2, 1)
    assert settings.on_mistake == "deny"
    assert settings.catalog == [Path("a.yaml")]


def test_lists_from_every_source(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_settings(["--catalog=a,b", "--catalog=c"]).catalog == [Path(x) for x in "abc"]
    monkeypatch.setenv("LLMFIT_WEBHOOK_BOARDS", "a,b")
    assert read_settings([]).boards == [Path("a"), Path("b")]


def test_empty_variable_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLMFIT_WEBHOOK_TLS_PORT", "")
    assert read_settings([]).tls_port == 8443


WRONG = [
    pytest.param(["--tls-port=x"], "", ["--tls-port: "], id="number"),
    pytest.param(["--tls-port=65536"], "", ["--tls-port: "], id="range"),
    pytest.param(["--on-mistake=no"], "", ["--on-mistake: "], id="choice"),
    pytest.param(
        ["--tls-port=x", "--deadline-seconds=0"], "", ["--tls-port: ", "--deadline-seconds: "],
        id="all-at-once",
    ),
    pytest.param(["--tls-cert-file=a"], "", ["--tls-cert-file and --tls-key-file"], id="pair"),
    pytest.param([], "colour: red", ["--colour is no setting"], id="unknown"),
    pytest.param([], "- a", ["config f.yaml: settings by name"], id="list"),
    pytest.param([], "1: 2", ["config f.yaml: settings by name"], id="number-for-a-name"),
    pytest.param([], "a: [", ["config f.yaml: no YAML: "], id="no-yaml"),
    pytest.param([], "a: !!python/object:os.system x", ["config f.yaml: no YAML: "], id="object"),
    pytest.param(["--config=gone.yaml"], "", ["config gone.yaml: No such file"], id="gone"),
]  # fmt: skip


@pytest.mark.parametrize(("flags", "file", "said"), WRONG)
def test_wrong(flags: list[str], file: str, said: list[str]) -> None:
    if file:
        Path("f.yaml").write_text(file)
        flags = [*flags, "--config=f.yaml"]
    with pytest.raises(BadSettingsError) as caught:
        read_settings(flags)
    lines = str(caught.value).splitlines()
    assert len(lines) == len(said)
    for line, start in zip(lines, said, strict=True):
        assert line.startswith(start)
        assert line.isprintable()
