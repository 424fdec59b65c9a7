"""Scenarios in Python files: read once, and run only where the user has asked for them."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from exposim.errors import InvalidArgument, UnknownFile, UntrustedFile
from exposim.simulation.settings import Origin

NAME_IT = "name the file to run it nevertheless: --scenario-file, or in Python scenarios.of(trajectory, file=...)"


@dataclass(frozen=True)
class ScenarioFile:
    """A Python file as it was when it was read: what is checked is what is run.

    Args:
        path: Where it is, without links.
        code: What was in it.
    """

    path: Path
    code: bytes

    @classmethod
    def read(cls, name: str | Path) -> ScenarioFile:
        """The file that a user has named."""
        try:
            path = Path(name).resolve()
            if path.is_file():
                return cls(path, path.read_bytes())
        except (OSError, ValueError, RuntimeError) as error:  # not allowed, a null character, a loop of links
            raise UnknownFile(f"{name} cannot be read: {error}") from None
        raise UnknownFile(f"there is no file {name}")

    @classmethod
    def of(cls, origin: Origin, folders: Iterable[Path] | None) -> ScenarioFile:
        """The file that a trajectory names, if it is as it was and where it may be.

        Args:
            origin: What the trajectory says of it.
            folders: In one of which, or below, it must be; ``None`` for a trajectory that comes from no file.

        Raises:
            UntrustedFile: If it has changed, or is elsewhere; nothing of it has been run.
        """
        assert origin.file is not None
        try:
            path = Path(origin.file).resolve()
            allowed = folders is None or any(path.is_relative_to(folder.resolve()) for folder in folders)
        except (OSError, ValueError, RuntimeError) as error:
            raise UnknownFile(f"{origin.file} cannot be read: {error}") from None
        if not allowed:
            raise UntrustedFile(
                f"the run was made by {origin.file}, which is neither in its folder nor in the working directory, "
                f"and is not run without a word; {NAME_IT}"
            )
        file = cls.read(path)
        if file.sha256 != origin.sha256:
            raise UntrustedFile(f"{origin.file} has changed since the run was saved, and is not run; {NAME_IT}")
        return file

    @property
    def sha256(self) -> str:
        """Of what was in it."""
        return hashlib.sha256(self.code).hexdigest()

    def run(self) -> ModuleType:
        """The module that it makes. Modules beside it can be imported, as ``python file.py`` has it."""
        spec = importlib.util.spec_from_file_location(f"exposim_scenario_{self.path.stem}", self.path)
        assert spec is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module  # dataclasses look themselves up there
        beside = str(self.path.parent)
        sys.path.insert(0, beside)
        try:
            exec(compile(self.code, self.path, "exec", dont_inherit=True), module.__dict__)
        except (Exception, SystemExit) as error:
            raise InvalidArgument(f"{self.path} cannot be run: {type(error).__name__}: {error}") from error
        finally:
            if beside in sys.path:
                sys.path.remove(beside)
        return module
