"""Evaluation of metrics: accuracy, agreement, calibration, correlation, significance; numpy and scipy only."""
