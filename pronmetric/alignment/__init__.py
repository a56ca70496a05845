"""Word alignment of line pairs; no torch."""
