"""Encoders: one folder for each kind, with its settings (`options.py`) and its module (`encoder.py`)."""
