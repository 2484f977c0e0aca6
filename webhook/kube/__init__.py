"""The API server, as the webhook's own identity sees it."""
