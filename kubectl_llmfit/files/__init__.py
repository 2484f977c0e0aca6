"""Manifests in files: read as kubectl reads them, edited without touching any other byte.

The modules are imported one by one: most commands read no file, and reading YAML loads a library.
"""
