"""Text: reading lines, words and their character spans, sentences, and the context of a record."""
