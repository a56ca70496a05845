"""WMT test sets: one reader for each file format."""
