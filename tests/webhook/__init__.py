"""The webhook's parts, each by itself."""
