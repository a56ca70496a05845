"""Contrastive suites and challenge sets, one file each: readers, texts to score, evaluation of scores; no torch."""
