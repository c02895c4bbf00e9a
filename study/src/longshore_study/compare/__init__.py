"""Compares two sides row by row, contrasts variants with each other, and checks guidelines. Imports
metrics, study_file and the packages below them."""
