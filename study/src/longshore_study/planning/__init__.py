"""Plans a study: its launches, the time they take, and the smallest difference they can detect.
Imports metrics, study_file and the packages below.
"""
