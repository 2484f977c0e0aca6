"""The version of kubectl-llmfit: the one place that states it (the package build reads it here)."""

__version__ = "0.1.0"
