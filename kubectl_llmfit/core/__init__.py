"""The pure core: sizing, claims and decisions over frozen dataclasses and plain dicts, no I/O."""
