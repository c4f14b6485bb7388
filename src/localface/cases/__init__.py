"""Data sets with a model and a schema, to demonstrate the library on."""
