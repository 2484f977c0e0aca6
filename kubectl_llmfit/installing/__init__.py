"""The admission webhook in a cluster: its manifests, and putting them there and away again."""
