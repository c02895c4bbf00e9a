"""The report: one HTML file that explains a study to a reader who did not run the study.

`facts.py` gathers the data. Each section has a module with a function that turns the data into
elements. To add a section, add its function to `page.SECTIONS`. Plots are SVG from `marks.py` and
`scales.py`. This package may import `output` and the packages that `output` imports.
"""
