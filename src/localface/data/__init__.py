"""What a record is, in the user's own units: features, schema, constraints, tables, scaling."""
