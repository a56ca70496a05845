"""The products of preparation, a function each: what a prepared folder holds."""
