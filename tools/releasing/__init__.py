"""The parts of tools/release.

`facts` says whether a tree is a release, `making` makes the files of the release, and `checking`
checks them.
"""
