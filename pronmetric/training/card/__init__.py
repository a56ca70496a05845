"""Cards of checkpoints, and the commands that make them again."""
