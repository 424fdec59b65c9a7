"""Writes src/exposim/_core.pyi, the types of the C++ extension, from the extension itself."""

import sys
from pathlib import Path

from nanobind.stubgen import StubGen

from exposim import _core

TARGET = Path(__file__).parents[1] / "src" / "exposim" / "_core.pyi"


def generate() -> str:
    """The text of the stub file."""
    generator = StubGen(_core, recursive=False)
    generator.put(_core)
    return generator.get()


if __name__ == "__main__":
    TARGET.write_text(generate(), encoding="utf-8")
    sys.stdout.write(f"wrote {TARGET}\n")
