"""The webhook's speed: reviews over TLS against others, and pods through a real API server."""
