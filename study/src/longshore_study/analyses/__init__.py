"""Questions to the same figures that are no comparison: history, steps, scaling, means, winners and
the communication model. It imports compare, planning and the packages below them.
"""
