"""The board: a static site of systems and their pronouns. No torch; texts and their scores are passed in."""
