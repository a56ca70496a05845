"""The model: encoders, attention, heads and losses; no file access."""
