"""Write the Go module files that pin one more Kubernetes version.

``python -m tests.controlplane.newversion v1.37.2`` makes ``go/v1.37.2.mod`` and
``go/v1.37.2.sum``.

k8s.io/kubernetes can't be required like other modules: its own go.mod replaces every
staging module by a folder of its repository, and replacements count in the main
module only. So the same list is written here, with the published module of the same
release (k8s.io/api v0.37.2 for Kubernetes v1.37.2) in the place of the folder.
"""

import argparse
import json
import re
import subprocess
from collections.abc import Mapping
from typing import Any

from tests.controlplane.build import find_go, go_environment
from tests.controlplane.versions import GO_MODULE

DIRECT = ("github.com/spf13/cobra", "go.etcd.io/etcd/server/v3")


def _go_json(go: str, *args: str) -> Any:
    result = subprocess.run(
        [go, *args], cwd=GO_MODULE, env=go_environment(), stdout=subprocess.PIPE, check=True
    )
    return json.loads(result.stdout)


def module_file(version: str, upstream: Mapping[str, Any]) -> str:
    """The text of the .mod file for ``version``, from Kubernetes' own go.mod as JSON."""
    staging = "v0." + version.removeprefix("v1.")
    staged = [
        replace["Old"]["Path"]
        for replace in upstream["Replace"]
        if replace["New"]["Path"].startswith("./staging/")
    ]
    pinned = {require["Path"]: require["Version"] for require in upstream["Require"]}
    return "\n".join(
        [
            "module kubectl-llmfit/tests/controlplane",
            "",
            f"go {upstream['Go']}",
            "",
            *(f"godebug {item['Key']}={item['Value']}" for item in upstream["GoDebug"] or []),
            "",
            f"require k8s.io/kubernetes {version}",
            *(f"require {path} {pinned[path]}" for path in DIRECT),
            "",
            "replace (",
            *(f"\t{path} => {path} {staging}" for path in staged),
            ")",
            "",
        ]
    )


def main() -> None:
    """Write the two files for the version given on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("version", help="a Kubernetes release such as v1.37.2")
    version: str = parser.parse_args().version
    if not re.fullmatch(r"v1\.\d+\.\d+", version):
        parser.error(f"{version} is not a release of the form v1.MINOR.PATCH")
    go = find_go()
    if go is None:
        parser.error("there is no `go` command on PATH")
    module = _go_json(go, "mod", "download", "-json", f"k8s.io/kubernetes@{version}")
    upstream = _go_json(go, "mod", "edit", "-json", module["GoMod"])
    target = GO_MODULE / f"{version}.mod"
    target.write_text(module_file(version, upstream))
    subprocess.run(
        [go, "mod", "tidy", f"-modfile={target.name}"],
        cwd=GO_MODULE,
        env=go_environment(),
        check=True,
    )
    print(f"wrote {target} and {target.with_suffix('.sum').name}")


if __name__ == "__main__":
    main()
