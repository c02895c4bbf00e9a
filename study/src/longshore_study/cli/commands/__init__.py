"""One module per command: `configure(parser)` declares its options, and `run(args)` returns its
exit status."""
