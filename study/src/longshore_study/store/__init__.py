"""Records of launches, the files that hold them, and their provenance. Imports base and host."""
