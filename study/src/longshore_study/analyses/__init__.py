"""Analyses of figures besides the comparison of two sides: history, steps, scaling, means, winners
and the communication model. Imports compare, planning and the packages below them."""
