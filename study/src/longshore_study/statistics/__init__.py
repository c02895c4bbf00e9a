"""The statistics of a comparison, in plain Python so that a verb starts at once; tested against scipy and by
simulation.

student        the t distribution, digamma and trigamma
effect         from figures of two sides to an effect on the log scale, its variance and degrees of freedom
moderated      one variance shrunk towards those of the other cells (Smyth 2004)
multiplicity   Benjamini-Hochberg and Holm
verdict        regressed, improved, same, inconclusive, untestable
power          how small a slowdown would be found, before and after measuring
"""
