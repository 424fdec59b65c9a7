"""The Python package is built in layers: a module imports from its own layer and from those below, nowhere else."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "exposim"

# Lowest first; modules and packages of the same line do not know each other.
LAYERS = (
    ("errors", "_build_info"),
    ("_abi", "_checks", "_core"),
    ("kernels", "contact"),
    ("robots",),
    ("simulation",),
    ("controllers",),
    ("scenarios",),
    ("analysis",),
    ("experiments",),
    ("plots",),
    ("viewer",),
    ("cli",),
)
HEIGHT = {name: height for height, names in enumerate(LAYERS) for name in names}
TOP = ("__init__", "__main__")  # which put everything together


def part_of(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


MODULES = sorted(path for path in PACKAGE.rglob("*.py") if part_of(path) not in TOP)


def imports(path: Path) -> set[str]:
    """Modules of the package that a file imports, wherever in it, but for those that only a type checker sees."""
    found: set[str] = set()
    waiting: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            waiting.extend(node.orelse)
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide where a module is"
            module = node.module or ""
            found |= {f"exposim.{alias.name}" for alias in node.names} if module == "exposim" else {module}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("exposim."):
            found.add(node.value.partition(":")[0])  # for importlib
        waiting.extend(ast.iter_child_nodes(node))
    return {name for name in found if name.startswith("exposim.")}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_no_import_goes_against_the_direction_of_the_layers(path):
    for module in imports(path):
        own, other = part_of(path), module.split(".")[1]
        assert other == own or HEIGHT[other] < HEIGHT[own], f"{own} imports {module}"


def test_every_part_of_the_package_has_a_layer():
    assert {part_of(path) for path in MODULES} <= HEIGHT.keys()
