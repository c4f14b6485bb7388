"""How LocalFACE is compared: other methods as baselines, metrics that judge all of them."""
