"""The programs that are compared: installed as users have them, all on the same Python."""

from __future__ import annotations

import shutil
import sys
import zipapp
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kubectl_llmfit import claim_name
from kubectl_llmfit.catalog.shipped import ShippedCatalog
from kubectl_llmfit.core.sizing import quantization
from tests.packaging import building
from tests.packaging.processes import BASE_PYTHON, SYSTEM_FOLDERS, environment, inherited, succeed

MODEL = "Qwen/Qwen2.5-7B-Instruct"
_ZIPAPP_MAIN = """import sys
from kubectl_llmfit.__main__ import main
sys.exit(main())
"""


@dataclass(frozen=True)
class Setting:
    """Where each program lies, and the environment that all of them get."""

    env: dict[str, str]
    wheel: Path
    python: str
    entry_point: str
    launcher: str
    zipapp: str
    oracle: str


def set_up(folder: Path) -> Setting:
    """Builds the wheel and the krew archive, and installs both below ``folder``."""
    home, clean = folder / "home", folder / "clean"
    home.mkdir()
    # Not the Python of this machine itself: what lies in its site-packages may run at every start.
    succeed([BASE_PYTHON, "-m", "venv", "--without-pip", clean], inherited())
    wheel = building.build_wheel(folder / "dist")
    installed = building.install_wheel(wheel, folder / "venv")
    unpacked = building.unpack(building.build_krew(folder / "krew-dist").archive, folder / "krew")
    oracle = Path(sys.executable).parent / "llmfit"
    return Setting(
        env=environment([clean / "bin", *SYSTEM_FOLDERS], home),
        wheel=wheel,
        python=str(clean / "bin" / "python3"),
        entry_point=str(installed.bin / "kubectl-llmfit"),
        launcher=str(unpacked.bin / "kubectl-llmfit"),
        zipapp=str(_as_zipapp(unpacked.files / "lib", folder)),
        oracle=str(oracle),
    )


def models(count: int) -> Sequence[str]:
    """``count`` models from all over the catalog whose claims have different names."""
    sized = [each for each in ShippedCatalog().models() if quantization.find(each.quantization)]
    by_name = {claim_name(model): model.name for model in sized}
    names = sorted(by_name.values())
    return names[:: len(names) // count][:count]


def _as_zipapp(library: Path, folder: Path) -> Path:
    content = folder / "zipapp"
    shutil.copytree(library, content, ignore=shutil.ignore_patterns("__pycache__"))
    (content / "__main__.py").write_text(_ZIPAPP_MAIN)
    target = folder / "kubectl-llmfit.pyz"
    zipapp.create_archive(content, target, "/usr/bin/env python3")
    target.chmod(0o755)
    return target
