"""Metrics of stored launches: one number per launch, with its bounds, and the accounts of engines
and counters. It imports base and store.
"""
