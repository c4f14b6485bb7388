"""The HTTP service with its page, and the same view in a notebook."""
