"""The parts of tools/fuzz.

`command` is the command line, and `sweep` does the work. Each step has a module: `capabilities`
reads what a build can do, `drawing` draws combinations, `running` runs one, `judging` judges the
run, `shrinking` makes a failing one smaller.
"""
