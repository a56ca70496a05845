"""Scripts that measure: `python -m benchmarks.FOLDER.NAME --help`. No part of the distribution."""
