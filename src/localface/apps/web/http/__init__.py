"""What every request passes: the guard, strict JSON, errors, metrics."""
