"""Missing and surplus pronouns of a translation, by its source or a reference; no torch."""
