"""The ResourceClaimTemplates that the webhook makes, and nothing but those."""
