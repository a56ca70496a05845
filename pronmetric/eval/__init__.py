"""Figures of how good a metric is: accuracy, agreement, calibration, significance; numpy only."""
