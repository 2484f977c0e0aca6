"""The webhook's own ResourceClaimTemplates: made, owned, made again, swept."""
