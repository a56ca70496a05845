"""Scripts that measure: `python -m benchmarks.NAME --help`. No part of the distribution."""
