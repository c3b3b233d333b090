"""Entry point of `python -m kerasbert`, the same as `kerasbert`."""

import sys

from kerasbert.cli.app import main

if __name__ == "__main__":
    sys.exit(main())
