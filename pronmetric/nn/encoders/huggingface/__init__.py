"""Any Hugging Face encoder; BERT and MPNet also as modules of this package, for scoring."""
