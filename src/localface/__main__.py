"""Runs the command line as ``python -m localface``."""

import sys

from localface.apps.cli import main

if __name__ == "__main__":
    sys.exit(main())
