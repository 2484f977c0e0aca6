"""Whole outputs, written down once and compared with what the command line prints."""
