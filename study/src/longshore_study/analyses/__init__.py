"""Other questions to the same metrics: history, steps, scaling, means, winners and the
communication model. It imports compare, planning and the packages below them.
"""
