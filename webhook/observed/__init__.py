"""What operators see of the webhook: logs, metrics, probes."""
