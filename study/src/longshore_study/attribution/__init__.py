"""Finds the factor levels and variables that a change is associated with. Writes and judges a study
that tests whether the levels or variables are the cause. Imports compare, planning and the packages
below them."""
