"""Published pronoun scores that compare with a reference, re-implemented from their descriptions; no torch."""
