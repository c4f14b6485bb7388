"""Models read by their fitted numbers, which gives what a call gives without its overhead."""
