"""Prints the benchmark's tables: ``python -m tests.bench [--runs N] [PART …]``.

Targets stand beside the figures and decide nothing: the exit code is 0 whatever they are.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from tests.bench import endpoint, patching
from tests.bench.admission.creation import creation_tables
from tests.bench.admission.tables import review_tables
from tests.bench.contenders import MODEL, Setting, models, set_up
from tests.bench.measure import Series, Spawner, in_turn, spawner
from tests.bench.printing import mb, mib, ms, row
from tests.controlplane.cluster import Cluster

ORACLE = "llmfit claim MODEL"
TARGETS = {"entry point, render MODEL": 0.6, "krew archive, render MODEL": 0.8}
CATALOG = "kubectl_llmfit/data/models.tsv"
MANY = 1000
PLUGIN, REVIEWS, PODS = PARTS = ("plugin", "reviews", "pods")


def render_table(setting: Setting, spawn: Spawner, runs: int) -> None:
    """One model, whole process, against the oracle."""
    entry, krew = TARGETS
    commands = {
        ORACLE: [setting.oracle, "claim", MODEL],
        entry: [setting.entry_point, "render", MODEL],
        krew: [setting.launcher, "render", MODEL],
        "bare interpreter (the floor)": [setting.python, "-c", "pass"],
    }
    series = in_turn(spawn, commands, runs)
    print(f"\n## One model, whole process, median of {runs} runs in turn\n")
    row("program", "wall", "ratio", "peak memory", "ratio", "target")
    for name, taken in series.items():
        target = f"<= {TARGETS[name]}" if name in TARGETS else "-"
        row(name, *_figures(taken, series[ORACLE]), target)
    print(
        f"\nRatios are medians of pairs within a round. MODEL is {MODEL}. No peak can show below "
        f"{mib(spawn.floor_bytes)}, that of the process that starts them."
    )


def form_table(setting: Setting, spawn: Spawner, runs: int) -> None:
    """The archive as a folder and as a zipapp, by a command that needs no data file."""
    folder, zipped = "folder with a launcher", "zipapp"
    commands = {
        folder: [setting.launcher, "version", "--help"],
        zipped: [setting.zipapp, "version", "--help"],
    }
    series = in_turn(spawn, commands, runs)
    print("\n## Form of the krew archive, `version --help`\n")
    row("form", "wall", "ratio", "peak memory", "ratio")
    for name, taken in series.items():
        row(name, *_figures(taken, series[folder]))
    print("\nPython keeps the compiled modules of a folder, and compiles those of a zipapp anew.")


def many_table(setting: Setting, spawn: Spawner, runs: int) -> None:
    """Many models in one process."""
    name = "render, 1,000 models"
    series = in_turn(spawn, {name: [setting.entry_point, "render", *models(MANY)]}, runs)[name]
    print(f"\n## Many models in one process, median of {runs} runs\n")
    row("command", "wall", "per model", "target")
    row(name, ms(series.seconds), f"{series.seconds / MANY * 1000:.3f} ms", "<= 1 ms")


def endpoint_table(setting: Setting, spawn: Spawner, runs: int) -> None:
    """The numbers of a claim for a program: a command each time, or the JSON endpoint."""
    command = "render MODEL --json"
    commands = {command: [setting.entry_point, "render", MODEL, "--json"]}
    series = in_turn(spawn, commands, runs)[command]
    latency, rate = endpoint.rate(endpoint.seconds_of_requests(MANY))
    print(f"\n## A claim for a program, {MANY:,} requests over one connection\n")
    row("program", "median", "ratio", "a second")
    row(command, ms(series.seconds), "1.00", f"{1 / series.seconds:.0f}")
    row("GET /v1/claim", ms(latency), f"{latency / series.seconds:.3f}", f"{rate:.0f}")


def patch_tables(setting: Setting, folder: Path, runs: int) -> None:
    """Workloads patched in a file and in a cluster, each against kubectl's nearest command."""
    with Cluster.start() as cluster:
        kubectl = str(cluster.bin / "kubectl")
        path = os.pathsep.join([str(cluster.bin), setting.env["PATH"]])
        env = {**setting.env, **cluster.environment, "PATH": path}
        with spawner(env) as spawn:
            print(f"\n## Patching one Deployment, median of {runs} runs in turn\n")
            row("program", "wall", "ratio", "peak memory", "ratio", "target")
            for commands, target in (
                (patching.in_files(kubectl, setting.entry_point, folder), "<= 3"),
                (patching.in_cluster(cluster, setting.entry_point, runs + 1), "<= 4.5"),
            ):
                series = in_turn(spawn, commands, runs)
                base, ours = series
                row(base, *_figures(series[base], series[base]), "-")
                row(ours, *_figures(series[ours], series[base]), target)
            print("\nRatios are to the row above, which is kubectl's nearest command.")
            documents = folder / "documents.yaml"
            documents.write_text(patching.deployments(MANY), "utf-8")
            name = "patch -f, 1,000 documents"
            command = [setting.entry_point, "patch", "-f", str(documents)]
            many = in_turn(spawn, {name: command}, max(1, runs // 10))[name]
            print("\n## Patching many documents in one process\n")
            row("command", "wall", "per document", "target")
            row(name, ms(many.seconds), f"{many.seconds / MANY * 1000:.3f} ms", "<= 10 s in all")


def size_table(setting: Setting) -> None:
    """The catalog in the wheel."""
    with zipfile.ZipFile(setting.wheel) as archive:
        catalog = archive.getinfo(CATALOG)
    print("\n## Size of the catalog\n")
    row("file", "raw", "in the wheel", "target")
    row(CATALOG, mb(catalog.file_size), mb(catalog.compress_size), "<= 2.5 MB")


def main(arguments: Sequence[str] | None = None) -> int:
    """Sets up, measures, prints."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--runs", type=int, default=30, help="rounds of each comparison")
    parser.add_argument("part", nargs="*", choices=[[], *PARTS], help="what to measure (all)")
    given = parser.parse_args(arguments)
    runs, parts = max(1, given.runs), given.part or PARTS
    print(f"Python {platform.python_version()}, {platform.platform()}, {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory(prefix="kubectl-llmfit-bench-") as folder:
        if PLUGIN in parts:
            plugin_tables(Path(folder), runs)
        if REVIEWS in parts:
            review_tables(Path(folder), max(1, runs // 5))
        if PODS in parts:
            creation_tables(Path(folder), max(1, runs // 8))
    return 0


def plugin_tables(folder: Path, runs: int) -> None:
    """The plugin, installed as users have it."""
    print("building and installing …", file=sys.stderr, flush=True)
    setting = set_up(folder)
    with spawner(setting.env) as spawn:
        render_table(setting, spawn, runs)
        form_table(setting, spawn, runs)
        many_table(setting, spawn, max(1, runs // 3))
        endpoint_table(setting, spawn, max(1, runs // 3))
    patch_tables(setting, folder, runs)
    size_table(setting)


def _figures(series: Series, base: Series) -> list[str]:
    return [
        ms(series.seconds),
        f"{series.seconds_ratio(base):.2f}",
        mib(series.peak_bytes),
        f"{series.peak_ratio(base):.2f}",
    ]


if __name__ == "__main__":
    sys.exit(main())
