"""Benchmarks: tables of ratios against the oracle in the same run, never a verdict."""
