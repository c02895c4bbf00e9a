"""Statistics in plain Python, so that commands start at once. This package knows nothing of studies
and imports no other package of the study tool. Tests compare the results with scipy and with
simulations.
"""
