"""Manifests in files: reading, editing, inserting and writing."""
