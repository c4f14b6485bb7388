"""What is asked most, compiled from C where a compiler was there; NumPy does it all otherwise."""
