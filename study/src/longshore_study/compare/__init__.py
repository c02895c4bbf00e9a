"""Verdicts: two sides compared row by row, variants contrasted with each other, and guidelines
checked. It imports metrics, study_file and the packages below them.
"""
