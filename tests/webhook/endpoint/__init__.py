"""The JSON endpoint over real sockets: against the command line, and its own description."""
