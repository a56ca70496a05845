"""The local page and its JSON interface: scores, comparisons and suggestions while the model stays loaded."""
