"""Files that people have beside lists of lines: what each format's texts are, and where they stand."""
