"""One module per command. `configure(parser)` adds its options, `run(args)` runs it and returns the
exit status."""
