"""The initial encoder of a run; one file for each kind of encoder reads or initialises it."""
