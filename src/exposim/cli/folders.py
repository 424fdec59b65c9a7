"""Where results go: folders that one run at a time writes to, and that none takes from another."""

from __future__ import annotations

import fcntl
import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from exposim._writing import clear_unfinished
from exposim.cli.console import note
from exposim.errors import FolderInUse, InvalidArgument

RESULTS = Path("results")
LOCK = ".exposim.lock"


def default_folder(name: str) -> Path:
    """results/<name>, whatever characters the name has."""
    safe = "".join(each if each.isalnum() or each in "-_." else "-" for each in name)
    return RESULTS / (safe if safe.strip(".") else safe.replace(".", "-"))


def latest(folder: Path) -> Path:
    """Of ``drop``, ``drop-2``, ``drop-3``, … the last that is there; the first if none is."""
    return _numbered(folder, _last_number(folder))


def next_free(folder: Path) -> Path:
    """The one after the last of them."""
    return _numbered(folder, _last_number(folder) + 1)


def is_numbered(folder: Path, first: Path) -> bool:
    """Whether a folder is one of those."""
    return folder == first or (folder.parent == first.parent and _number(folder, first) is not None)


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


@contextmanager
def occupied(folder: Path, names: Iterable[str]) -> Iterator[None]:
    """Within, the folder is this process's alone, and free of what killed ones have left of files of these names.

    The lock is the system's and goes with the process, however that ends; the file by itself means nothing.

    Raises:
        FolderInUse: If another run is writing there.
        InvalidArgument: If it cannot be written to.
    """
    make_folder(folder)
    lock = _lock(folder)
    try:
        clear_unfinished(folder, names)
        yield
    finally:
        if lock is not None:
            with suppress(OSError):
                (folder / LOCK).unlink()  # before the lock is given back: the next one makes a file of its own
            os.close(lock)


def clear(folder: Path, names: tuple[str, ...]) -> None:
    """Removes files that an earlier run left, where they are there."""
    for name in names:
        with suppress(FileNotFoundError):
            (folder / name).unlink()


def _lock(folder: Path) -> int | None:
    """A descriptor that holds the lock; ``None`` where the file system has no locks."""
    path = folder / LOCK
    while True:
        try:
            lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        except OSError as error:
            raise InvalidArgument(
                f"cannot write into {folder}: {LOCK}: {error.strerror}; give another folder with --output"
            ) from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.read(lock, 20).decode("ascii", "replace").strip()
            os.close(lock)
            who = f" (process {owner})" if owner.isdigit() else ""
            raise FolderInUse(
                f"another run is writing into {folder}{who}; wait until it has ended, or give another --output"
            ) from None
        except OSError as error:
            os.close(lock)
            with suppress(OSError):
                path.unlink()
            note(f"{folder} cannot be locked ({error.strerror}): see to it that no other run writes there")
            return None
        if _is_there(path, lock):
            with suppress(OSError):  # it is for messages only
                os.ftruncate(lock, 0)
                os.write(lock, f"{os.getpid()}\n".encode())
            return lock
        os.close(lock)  # its owner has just ended and removed it


def _is_there(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(follow_symlinks=False), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _numbered(folder: Path, number: int) -> Path:
    return folder if number <= 1 else folder.with_name(f"{folder.name}-{number}")


def _number(folder: Path, first: Path) -> int | None:
    found = re.fullmatch(re.escape(first.name) + r"-([1-9]\d{0,8})", folder.name)
    return None if found is None else int(found[1])


def _last_number(first: Path) -> int:
    """Of those that are there; 0 if there is none, 1 for the one without a number."""
    beside = first.parent.iterdir() if first.parent.is_dir() else ()
    numbers = (_number(each, first) for each in beside)
    return max([1 if first.exists() else 0, *(number for number in numbers if number is not None)])
