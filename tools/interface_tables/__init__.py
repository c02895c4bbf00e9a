"""The tables of docs/reference/api: a row for each call of an interface, made from its sources."""
