"""Describes this machine, its MPI libraries and stacks, and faults. Imports base."""
