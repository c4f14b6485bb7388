"""Data sets to demonstrate the library on, with their models or schemas."""
