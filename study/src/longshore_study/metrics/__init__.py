"""Metrics of stored launches: one number per variant and launch, with bounds, and summaries of
engines and counters. Imports base and store."""
