"""Runs searches: answers what they ask in lock-step, metered, and fits what they need."""
