"""The study tool of Longshore: records, store, statistics, judgement and report of communication
benchmarks."""

__version__ = "0.1.0"
