"""Training: examples, batches, the Lightning shells, and the card of what came out."""
