"""How common a state is: densities that answer for points and for whole segments."""
