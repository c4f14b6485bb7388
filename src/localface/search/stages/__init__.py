"""The stages of a search: generators that ask questions."""
