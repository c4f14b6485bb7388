"""Runs searches: answers their questions in lock-step, meters what is revealed, and fits what they need."""
