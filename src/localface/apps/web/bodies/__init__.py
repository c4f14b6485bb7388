"""What requests may hold, what replies hold, for checking and for OpenAPI."""
