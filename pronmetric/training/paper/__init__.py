"""What the paper's tables need: Table 4, ELMo's language models, cached encoders."""
