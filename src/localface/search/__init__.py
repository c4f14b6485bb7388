"""The search for one person, in points only: the questions it asks, its state, its three stages."""
