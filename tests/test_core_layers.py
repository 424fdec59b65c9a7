"""The C++ core is built in layers: a file includes its own layer and those below; and files stay short."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CORE = ROOT / "cpp" / "exposim"

# Lowest first. What stands on one line does not know the others of that line.
LAYERS = (
    ("thresholds", "profiler", "commands", "grazing"),
    ("kernels", "geometry"),
    ("robot",),
    ("stiff",),
    ("state", "event", "force_course"),
    ("instant", "world"),
    ("joints",),
    ("step", "step_tangent", "workspace"),
    ("contact",),
    ("path",),
    ("expo",),
    ("integrators",),
    ("derivatives",),
    ("simulator", "readings"),
    ("rollout",),
)
HEIGHT = {name: height for height, names in enumerate(LAYERS) for name in names}
FILES = sorted(path for path in CORE.rglob("*") if path.suffix in (".hpp", ".cpp"))
MOST_LINES = 350


def layer_of(path: Path) -> str:
    return path.relative_to(CORE).with_suffix("").parts[0]


def included(text: str) -> list[Path]:
    return [CORE / name for name in re.findall(r'#include "exposim/(.+?)"', text)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(CORE).as_posix())
def test_no_include_goes_against_the_direction_of_the_layers(path):
    own = layer_of(path)
    for header in included(path.read_text()):
        assert header.is_file()
        other = layer_of(header)
        assert other == own or HEIGHT[other] < HEIGHT[own], f"{own} includes {header.relative_to(CORE)}"


def test_every_part_of_the_core_has_a_layer():
    assert {layer_of(path) for path in FILES} == HEIGHT.keys()


def test_kernels_and_geometry_need_eigen_alone():
    for path in FILES:
        if layer_of(path) in ("kernels", "geometry", "stiff", "expo"):
            assert "pinocchio/" not in path.read_text(), path


@pytest.mark.parametrize("path", FILES + sorted((ROOT / "bindings").rglob("*.cpp")), ids=lambda path: path.name)
def test_no_file_of_the_core_is_long(path):
    assert len(path.read_text().splitlines()) <= MOST_LINES
