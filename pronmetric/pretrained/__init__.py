"""Readers of published weights: ELMo and GloVe."""
