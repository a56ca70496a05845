"""Output: files that are written completely or not at all, tables, progress, and text made safe to print."""
