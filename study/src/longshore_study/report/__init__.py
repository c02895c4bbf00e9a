"""The report: one HTML file that explains a study to somebody who was not there.

`facts.py` gathers what the page shows from launches and from a comparison; one module per section
turns that into elements; `page.py` puts them together. Plots are SVG written here (`marks.py`,
`scales.py`): no network, no library. It imports output and the packages below it.
"""
