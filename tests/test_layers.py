"""The Python package is built in layers: a module imports from its own layer and from those below, nowhere else."""

from pathlib import Path

import pytest

from paper.digest import imports

PACKAGE = Path(__file__).parents[1] / "src" / "exposim"

# Lowest first; modules and packages of the same line do not know each other.
LAYERS = (
    ("errors", "_build_info"),
    ("_abi", "_checks", "_core", "_durations", "_extras", "_html", "_npz", "_progress", "_writing"),
    ("_tables",),
    ("contact", "tasks"),
    ("kernels", "terrain"),
    ("robots",),
    ("simulation",),
    ("controllers", "jax", "mpc", "sensors", "torch"),
    ("scenarios",),
    ("analysis",),
    ("sweeps",),
    ("plots",),
    ("identification", "viewer"),
    ("envs",),
    ("cli",),
)
HEIGHT = {name: height for height, names in enumerate(LAYERS) for name in names}
TOP = ("__init__", "__main__")  # which put everything together


def part_of(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


MODULES = sorted(path for path in PACKAGE.rglob("*.py") if part_of(path) not in TOP)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_no_import_goes_against_the_direction_of_the_layers(path):
    for module in imports(path) - {"exposim"}:  # which only the command line asks, for its version
        own, other = part_of(path), module.split(".")[1]
        assert other == own or HEIGHT[other] < HEIGHT[own], f"{own} imports {module}"


def test_every_part_of_the_package_has_a_layer():
    assert {part_of(path) for path in MODULES} <= HEIGHT.keys()
