"""Text, values and conditions that every package uses. It imports no other package of the study
tool.
"""
