"""The output of other programs, read into records. It imports base, host and store.

An importer is a module with `read(source, options) -> list[Imported]`: one Imported for each run
that the text holds. To add one, write the module, name it in formats.FORMATS, and say in
formats.SIGNATURES how its output is recognised.
"""
