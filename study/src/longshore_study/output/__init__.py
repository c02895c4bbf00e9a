"""Tables for terminals, files for other programs. Imports analyses and the packages below it."""
