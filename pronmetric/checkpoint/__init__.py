"""Checkpoints: their files, their configuration, and where they are found."""
