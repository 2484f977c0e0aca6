"""The documentation: its generated parts, and every command that it shows."""
