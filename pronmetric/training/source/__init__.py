"""Training of what reads sources: a reader for a checkpoint, and a scorer of several languages."""
