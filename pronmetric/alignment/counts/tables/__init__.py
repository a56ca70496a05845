"""Source tables, one a language (LANGUAGE.npz), made by `pronmetric baseline counts`."""
