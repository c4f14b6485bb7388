"""The stages of a search, each a generator that asks questions and is sent the answers."""
