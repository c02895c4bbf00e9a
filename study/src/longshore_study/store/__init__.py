"""Records of launches, the files in which they lie, and the provenance kept beside them. It imports
base and host.
"""
