"""``python -m halma``: runs the program ``halma``."""

import os
import subprocess
import sys

from halma._program import find_halma


def main() -> int:
    program = find_halma()
    if sys.platform == "win32":
        return subprocess.run([program, *sys.argv[1:]]).returncode
    os.execv(program, [program, *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
