"""Sentence log-probabilities by translation models and language models of Hugging Face."""
