"""Describes this machine: cores, MPI libraries, communication stacks, and faults that spoil
measurements. Imports base."""
