"""The models that kubectl-llmfit knows: the shipped catalog and users' own entries over it."""

from kubectl_llmfit.catalog.catalog import Catalog

__all__ = ["Catalog"]
