"""The study file: the model of a study, the readers that check the TOML text, and the file of known
events. Imports importers and the packages that these import."""
