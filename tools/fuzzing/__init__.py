"""The parts of tools/fuzz.

`command` is the command line, and `sweep` does the work: it runs combinations that `drawing` draws
from the `capabilities` of a build (`running`), judges the runs (`judging`), and makes failing
combinations smaller (`shrinking`).
"""
