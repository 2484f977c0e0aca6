"""From a pod and a plan to a decision and operations; every shell applies the same ones."""
