"""Checkpoints: their files, their configuration, and how they are found."""
