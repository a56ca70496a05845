"""Training: examples, batches, the Lightning modules, and the model card."""
