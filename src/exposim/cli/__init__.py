"""The command line."""

import sys

from exposim._extras import load
from exposim.errors import MissingExtra


def main() -> None:
    """Entry point of the command ``exposim``."""
    try:
        app = load("exposim.cli.app").app
    except MissingExtra as missing:
        sys.stderr.write(f"error: {missing}\n")
        sys.exit(2)
    app(prog_name="exposim")
