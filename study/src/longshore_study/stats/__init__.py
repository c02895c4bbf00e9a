"""Statistics in plain Python, so that commands start at once. It knows nothing of studies and
imports no other package of the study tool. Tests compare it with scipy and by simulation.
"""
