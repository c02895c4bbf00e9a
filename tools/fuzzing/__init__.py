"""The parts of tools/fuzz.

`offers` knows what a build can do, `drawing` draws combinations of it, `running` runs one,
`judging` judges it, `shrinking` makes a failing one smaller, `keeping` stores it, `reporting` says
what happened. `sweep` puts these together, and `command` is the command line.
"""
