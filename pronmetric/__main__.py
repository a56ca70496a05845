"""`python -m pronmetric` is `pronmetric`."""

from __future__ import annotations

import sys

from pronmetric.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
