"""How LocalFACE is compared: other methods as baselines, and the metrics that judge all of them."""
