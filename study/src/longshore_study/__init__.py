"""The study tool of Longshore: runs, stores, compares and explains communication benchmarks."""

__version__ = "0.1.0"
