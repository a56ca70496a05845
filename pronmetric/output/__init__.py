"""Output: files that appear whole or not at all, tables, progress, and names made safe to print."""
