"""Checkpoints shipped with the package, one folder each; README.md beside this file is their index."""
