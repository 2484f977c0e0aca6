"""The webhook on a real control plane: what it does, as shipped, and what it survives."""
