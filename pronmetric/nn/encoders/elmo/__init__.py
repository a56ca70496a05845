"""ELMo, a language model in each direction over characters."""
