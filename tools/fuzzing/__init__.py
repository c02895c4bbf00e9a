"""The parts of tools/fuzz.

`capabilities` reads what a build can do. `drawing` draws combinations, with hints from `numbers`,
`option_needs` and `variables`. `running` runs one, and `judging` judges it. `shrinking` makes a
failing one smaller, and `failure_store` stores it. `reporting` prints. `sweep` puts these together;
`command` is the command line.
"""
