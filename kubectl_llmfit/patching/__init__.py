"""Patching workloads, in files and in a cluster: one decision, two ways to carry it out."""
