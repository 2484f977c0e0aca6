"""Admission reviews: read, decided, answered."""
