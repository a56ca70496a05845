"""What is fitted after the weights: calibration, decision, rounding."""
