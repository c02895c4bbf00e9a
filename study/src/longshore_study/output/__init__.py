"""Tables for terminals and files for other programs. It imports analyses and the packages below
them.
"""
