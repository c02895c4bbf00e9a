"""Importers read the output of other programs into records. Imports base, host and store.

An importer is a module with `read(source, options) -> list[Imported]`, which returns an Imported
per run in the text. To add an importer, write the module, and add it to formats.FORMATS with a
regular expression that recognises the output.
"""
