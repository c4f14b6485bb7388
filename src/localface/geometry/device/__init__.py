"""All rows held against thousands of questions at once, on a GPU; in tests NumPy does the same."""
