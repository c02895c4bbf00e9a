"""The machine at hand: its cores, MPI libraries and communication stacks, and the faults that spoil
a measurement. It imports base.
"""
