"""The Kubernetes API as the webhook uses it: JSON calls, watches, leadership."""
