"""How the commands speak: kubectl's help form, output streams, tables, output formats."""
