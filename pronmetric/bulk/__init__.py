"""Bulk scoring on Ray Data: many files, many processes, every row exactly once."""
