"""Where results go."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from pathlib import Path

from exposim.errors import InvalidArgument

RESULTS = Path("results")


def default_folder(name: str) -> Path:
    """results/<name>, whatever characters the name has."""
    return RESULTS / "".join(each if each.isalnum() or each in "-_." else "-" for each in name)


def make_folder(folder: Path) -> None:
    """Makes it, and finds out before a long run whether it can be written to."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InvalidArgument(
            f"cannot write into {folder}: {error.strerror}; give another folder with --output"
        ) from None


def clear(folder: Path, names: tuple[str, ...]) -> None:
    """Removes files that an earlier run left, where they are there."""
    for name in names:
        with suppress(FileNotFoundError):
            (folder / name).unlink()
