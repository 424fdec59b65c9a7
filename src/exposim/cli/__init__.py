"""The command line."""

from exposim.cli.app import app, main

__all__ = ["app", "main"]
