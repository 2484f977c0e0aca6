"""The webhook's manifests: what kubectl builds of them, and what they say."""
