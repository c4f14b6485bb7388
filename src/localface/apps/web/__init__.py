"""The HTTP service with its page, whose view a notebook can show too."""
