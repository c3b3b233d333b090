"""The command line, as a measurement runs it."""

import json
import subprocess
import sys


def kerasbert(*words) -> dict:
    """What `kerasbert WORDS --json` prints. Ends this process, with the command, where that fails."""
    command = [sys.executable, "-m", "kerasbert.cli", *map(str, words), "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"exit code {done.returncode} of {' '.join(command)}")
    return json.loads(done.stdout)
