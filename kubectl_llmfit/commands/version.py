"""``kubectl llmfit version``: the tool's own version and that of its catalog."""

from __future__ import annotations

import platform

import click

from kubectl_llmfit.catalog import Catalog
from kubectl_llmfit.console import formats, streams
from kubectl_llmfit.console.command import KubectlCommand
from kubectl_llmfit.console.completion import one_of
from kubectl_llmfit.console.formats import as_json, as_yaml
from kubectl_llmfit.version import __version__

FORMATS = ("json", "yaml")


@click.command(
    cls=KubectlCommand,
    examples="""
        # Print the version of kubectl-llmfit and of its catalog
        kubectl llmfit version

        # Print it for a program
        kubectl llmfit version -o json
    """,
)
@click.option(
    "-o",
    "--output",
    help=f"Output format. One of: ({', '.join(FORMATS)}). If empty, text for people.",
    shell_complete=one_of(FORMATS),
)
def command(output: str | None) -> None:
    """Print the version of kubectl-llmfit, of its catalog and of the Python that runs it."""
    release = Catalog().release
    facts = {
        "version": __version__,
        "catalog": release.source,
        "catalogModels": release.models,
        "python": platform.python_version(),
    }
    formats.check(output, FORMATS)
    if not output:
        streams.write(
            f"Client Version: v{__version__}\n"
            f"Catalog: {release.source}, {release.models} models\n"
            f"Python: {facts['python']}\n"
        )
    elif output == "json":
        streams.write(as_json(facts))
    else:
        streams.write(as_yaml(facts))
