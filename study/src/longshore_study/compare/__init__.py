"""Verdicts: compares two sides row by row, contrasts variants with each other, and checks
guidelines. It imports metrics, study_file and the packages below them.
"""
