"""Files that are written whole or not at all, whatever ends the process."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from exposim.errors import UnwritableFile

_UNFINISHED = ".part"


@contextmanager
def writing(target: Path) -> Iterator[BinaryIO]:
    """A stream into a new file beside the target, which takes the target's place at the end.

    Raises:
        UnwritableFile: If the system refuses, naming the target; what was there before is then still there.
    """
    # Of a name that nobody can foresee, and made anew: in a folder that others write to, a link could wait there.
    unfinished = target.with_name(f"{target.name}.{os.urandom(6).hex()}{_UNFINISHED}")
    try:
        with unfinished.open("xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())  # some systems find out only now that there is no space
        unfinished.replace(target)
    except OSError as error:
        raise UnwritableFile(f"cannot write {target}: {error.strerror or error}") from None
    finally:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)


def make_parents(target: Path) -> None:
    """Makes the folders above a file that is to be written."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UnwritableFile(f"cannot write {target}: {error.filename}: {error.strerror or error}") from None


def clear_unfinished(folder: Path, names: Iterable[str]) -> None:
    """Removes what processes that were killed have left of files of these names."""
    wanted = tuple(f"{name}." for name in names)
    for path in folder.iterdir():
        if path.name.startswith(wanted) and path.name.endswith(_UNFINISHED) and not path.is_dir():
            with suppress(OSError):
                path.unlink()
