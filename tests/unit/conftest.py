"""What every unit test has: its own config folder, and the command line as a function."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from hypothesis import settings

from kubectl_llmfit import cli
from tests.unit.commandline import Finished, Run

# The same examples in every run: a failure in CI is one that a developer sees too.
settings.register_profile("repeatable", deadline=None, derandomize=True, max_examples=100)
settings.load_profile("repeatable")


@pytest.fixture(scope="module", autouse=True)
def isolated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Nothing of the user's own settings reaches a test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
        for variable in ("KUBECTL_LLMFIT_TRACEBACK", "NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE"):
            patch.delenv(variable, raising=False)
        yield


@pytest.fixture
def garbage_collection() -> Iterator[None]:
    """Puts back what the entry point tunes for a process that ends soon."""
    threshold = gc.get_threshold()
    yield
    gc.unfreeze()
    gc.set_threshold(*threshold)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command line inside this process."""

    def call(*arguments: str) -> Finished:
        capsys.readouterr()
        code = cli.main(list(arguments))
        written = capsys.readouterr()
        return Finished(code, written.out, written.err)

    return call
