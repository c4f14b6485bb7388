"""Worlds to try the library on: two moons, a credit table, readiness for discharge, MIMIC-III."""
