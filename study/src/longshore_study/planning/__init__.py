"""The launches of a study, the time that they will take, and the smallest difference that they
could find. It imports metrics, study_file and the packages below them.
"""
