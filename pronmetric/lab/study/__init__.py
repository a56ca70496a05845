"""Annotation studies: people choose between two versions of a sentence that differ in a pronoun."""
