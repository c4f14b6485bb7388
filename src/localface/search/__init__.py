"""The search for one person, in points only: its questions, its state, its stages in order."""
