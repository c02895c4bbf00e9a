"""Cores, MPI libraries and communication stacks of this machine, and faults that spoil
measurements. Imports base.
"""
