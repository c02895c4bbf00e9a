"""One module per command. `EXAMPLES` ends its help, `configure(parser)` adds its options, and
`run(args)` runs it and returns the exit status."""
