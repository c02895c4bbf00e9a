"""The study tool of Longshore: runs, stores, compares and explains communication benchmarks."""

__version__ = "1.0.0"
