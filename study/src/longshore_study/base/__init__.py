"""Texts, values and conditions that every package uses. Imports no other package of this tool."""
