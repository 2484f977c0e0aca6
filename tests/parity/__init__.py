"""Our numbers against the oracle's: the released llmfit binary, run as a whole process."""
