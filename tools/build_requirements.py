"""Prints what pyproject.toml asks for to build the package, one requirement a line."""

from pathlib import Path

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    from pip._vendor import tomli as tomllib

pyproject = Path(__file__).parents[1] / "pyproject.toml"
print(*tomllib.loads(pyproject.read_text(encoding="utf-8"))["build-system"]["requires"], sep="\n")
