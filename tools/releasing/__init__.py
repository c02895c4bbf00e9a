"""The parts of tools/release.

`command` is the command line. `facts` says whether a tree is a release, `making` makes the files of
the release, `checking` checks them, and `running` runs programs.
"""
