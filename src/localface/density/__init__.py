"""How common is the ground: densities that answer for points and for whole steps."""
