"""The factor levels and variables with which a change is associated, and the study that tests
whether one of them is the cause. It imports compare, planning and the packages below them.
"""
