"""Statistics: numbers in, numbers out, in plain Python so that a command starts at once. It knows
nothing of studies and imports no other package of the study tool; tests compare it with scipy
and by simulation.
"""
