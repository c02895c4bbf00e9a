"""The study file: the model of a study, the readers that check the TOML text, and the file of known
events. It imports importers and the packages below them.
"""
