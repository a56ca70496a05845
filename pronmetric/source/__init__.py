"""What the source of a translation says about its pronouns; no torch."""
