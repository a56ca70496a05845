"""Prepared rows to labelled examples, and examples to planned batches."""
