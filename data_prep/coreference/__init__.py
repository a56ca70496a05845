"""Documents annotated with coreference, a reader for each format, and their antecedents."""
