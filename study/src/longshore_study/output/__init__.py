"""Tables for terminals and files for other programs. Imports analyses and the packages below
them."""
