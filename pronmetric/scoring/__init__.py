"""Score objects, their aggregation, and what is computed from them."""
