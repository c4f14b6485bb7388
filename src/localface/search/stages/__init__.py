"""The three stages of a search, each a function that asks; none knows another."""
