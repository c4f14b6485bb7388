"""Small seeded worlds to try things on."""
