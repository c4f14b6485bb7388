"""Runs searches: opens the table, fits what they need, answers them in lock-step, metered."""
