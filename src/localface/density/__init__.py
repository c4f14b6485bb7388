"""How common a state is: densities at points, along segments."""
