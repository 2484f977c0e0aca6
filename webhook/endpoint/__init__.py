"""The JSON endpoint for programs: claims and models over HTTP, described by OpenAPI, read-only."""
