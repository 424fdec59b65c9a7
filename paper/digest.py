"""What the result of a cell depends on: the modules that its function uses, found by their imports, and the core.

A caption, a figure or a verdict is not among them: changing one leaves what was measured as it is.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path

PACKAGES = ("exposim", "paper")
DATA = ".npz"  # beside a package, in folders below it: reference motions
OTHERS = ("pin", "example-robot-data")  # whose versions count, not their files


@cache
def digest(module: str) -> str:
    """Of all that functions of a module may depend on; comments and layout do not count."""
    found = hashlib.sha256()
    for file in sources(module):
        found.update(_content(file))
    for package in OTHERS:
        found.update(metadata.version(package).encode())
    return found.hexdigest()


def sources(module: str) -> list[Path]:
    """Files of a module and of all in these packages that it imports, directly or not, with their data."""
    if file_of(module) is None:
        raise ModuleNotFoundError(f"there is no module {module}")
    found: dict[str, Path] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name in found or (file := file_of(name)) is None:
            continue
        found[name] = file
        if file.suffix == ".py":
            waiting.extend(imports(file))
    packages = [file.parent for file in found.values() if file.name == "__init__.py"]
    data = {file for folder in packages for file in folder.rglob(f"*{DATA}")}
    return [*(found[name] for name in sorted(found)), *sorted(data)]


def imports(file: Path) -> set[str]:
    """Modules of these packages that a file imports, wherever in it, also by name; not what only type checkers see."""
    found: set[str] = set()
    for node in _run(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] in PACKAGES:
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            found |= {name if file_of(name) else node.module for name in inner}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "." in node.value:
            found.add(node.value.partition(":")[0])
    return {name for name in found if name.split(".")[0] in PACKAGES and file_of(name)}


def file_of(module: str) -> Path | None:
    """Where a module is, if it is one; found without importing more than its outermost package."""
    package, _, name = module.rpartition(".")
    if not all(word.isidentifier() for word in module.split(".")):
        return None
    if "." not in package:
        spec = importlib.util.find_spec(module)
        return None if spec is None or spec.origin is None else Path(spec.origin)
    parent = file_of(package)
    if parent is None or parent.name != "__init__.py":
        return None
    places = (parent.parent / name / "__init__.py", parent.parent / f"{name}.py")
    return next((place for place in places if place.is_file()), None)


def _run(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those under ``if TYPE_CHECKING``."""
    if isinstance(tree, ast.If) and isinstance(tree.test, ast.Name) and tree.test.id == "TYPE_CHECKING":
        return
    yield tree
    for node in ast.iter_child_nodes(tree):
        yield from _run(node)


def _content(file: Path) -> bytes:
    if file.suffix != ".py":
        return file.read_bytes()
    return ast.dump(ast.parse(file.read_text(encoding="utf-8"))).encode()
