"""Records as Arrow (arrow.py), and as batches of tensors (collate.py)."""
