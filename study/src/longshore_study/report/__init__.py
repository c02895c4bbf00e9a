"""The report: one HTML file that explains a study to somebody who was not there.

`facts.py` gathers the data from launches, a comparison and guidelines. One module per section turns
them into elements, and `page.py` puts the sections together; to add a section, add its function to
`page.SECTIONS`. Plots are SVG made here (`marks.py`, `scales.py`), without network or library. It
imports output and the packages below it.
"""
