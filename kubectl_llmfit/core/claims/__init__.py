"""From floors to Kubernetes objects: names, the plan, each API version's shape, YAML, header."""
