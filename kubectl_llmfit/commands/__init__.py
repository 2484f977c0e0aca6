"""One module a command: flags to options, the core called, the result printed."""
