"""One module per verb of the command line: `configure(parser)` declares its options, `run(args)` returns its exit
status.
"""
