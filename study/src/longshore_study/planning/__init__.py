"""Plans a study: its launches, the time that they take, and the smallest difference that they can
detect. Imports metrics, study_file and the packages that these import."""
