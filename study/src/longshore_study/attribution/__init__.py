"""Finds the factor levels and variables that a change is associated with, and writes and judges the
study that tests whether they are the cause. Imports compare, planning and the packages below.
"""
