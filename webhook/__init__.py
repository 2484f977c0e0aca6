"""The admission webhook: pods that name a model get their claim as they are created."""
