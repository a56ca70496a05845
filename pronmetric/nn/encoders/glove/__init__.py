"""Word vectors and a BiLSTM."""
