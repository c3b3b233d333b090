"""`python -m kerasbert.cli` does what `kerasbert` does."""

import sys

from kerasbert.cli.app import main

if __name__ == "__main__":
    sys.exit(main())
