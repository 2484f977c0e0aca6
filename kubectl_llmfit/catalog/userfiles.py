"""Where users' own files lie: the XDG config folder."""

from __future__ import annotations

import os

CONFIG_FOLDER = "kubectl-llmfit"


def user_file(name: str) -> str | None:
    """The user's file called ``name`` in the XDG config folder, if there is one to be seen."""
    base = os.environ.get("XDG_CONFIG_HOME", "")
    # The XDG specification has relative paths ignored.
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), ".config")
    path = os.path.join(base, CONFIG_FOLDER, name)
    return path if os.path.isabs(path) and os.path.exists(path) else None
