"""The package is light to import, and what a part of it needs beyond that is loaded on use."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import exposim as xs
from exposim._extras import EXTRAS

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"

# Hides packages as if they were not installed.
HIDE = """
import sys

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {names!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Hidden())
"""


def python(code, *options):
    return subprocess.run([sys.executable, *options, "-c", code], capture_output=True, text=True, check=False)


def without(names, code):
    """Runs code in a new process in which these modules are missing."""
    return python(HIDE.format(names=tuple(names)) + code)


def third_party(code):
    """Outermost modules that code loads, but for those of the standard library."""
    told = python(f"{code}\nimport sys; print(*sorted({{name.partition('.')[0] for name in sys.modules}}))")
    return set(told.stdout.split()) - set(sys.stdlib_module_names)


def test_the_import_loads_numpy_pinocchio_and_nothing_else():
    assert third_party("import exposim") - third_party("import pinocchio, numpy") == {"exposim"}


def test_the_import_leaves_for_later_what_a_simulator_does_not_need():
    told = python("import sys, exposim; print(*sys.modules)").stdout.split()
    parts = {name.split(".")[1] for name in told if name.startswith("exposim.")}
    assert parts.isdisjoint({"analysis", "cli", "controllers", "envs", "plots", "scenarios", "sensors", "viewer"})
    later = {f"exposim.simulation.{name}" for name in ("recorder", "recording", "replaying", "trajectory")}
    assert later.isdisjoint(told)
    assert {"asyncio", "http", "multiprocessing", "unittest"}.isdisjoint(told)


def test_the_simulator_needs_no_extra(tmp_path):
    code = f"""
import exposim as xs
sim = xs.Simulator(xs.load_robot("solo12"), xs.HalfSpace())
sim.step(n=10)
trajectory = xs.scenarios.get("drop").run(duration=0.01)
trajectory.save({str(tmp_path / "motion.npz")!r})
print(xs.analysis.Summary.of(xs.scenarios.get("drop"), trajectory).stable)
"""
    done = without(EXTRAS, code)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "True\n"


@pytest.mark.parametrize(
    ("missing", "extra", "use"),
    [
        ("matplotlib", "plot", "xs.plots"),
        ("pandas", "plot", "xs.scenarios.get('drop').run(duration=0.01).to_dataframe()"),
        ("meshcat", "view", "xs.viewer.write_replay"),
        ("umsgpack", "view", "xs.viewer.write_replay"),
        ("viser", "view", "xs.viewer.serve"),
        ("trimesh", "view", "xs.viewer.LiveViewer"),
        ("collada", "view", "xs.viewer.LiveViewer(xs.load_robot('go2'), port=0)"),
        ("embreex", "render", "xs.viewer.render"),
        ("av", "render", "xs.viewer.video"),
        ("PIL", "render", "xs.viewer.video"),
        ("gymnasium", "envs", "xs.envs"),
        ("crocoddyl", "mpc", "xs.mpc.crocoddyl_state(xs.Simulator(xs.load_robot('solo12')))"),
        ("proxsuite", "control", "xs.controllers.InverseDynamics(xs.load_robot('solo12'), [])"),
    ],
)
def test_a_missing_package_is_named_with_the_command_that_installs_it(missing, extra, use):
    code = f"""
import exposim as xs
try:
    {use}
except xs.MissingExtra as error:
    print(error)
"""
    done = without([missing], code)
    assert done.returncode == 0, done.stderr
    assert f"needs {EXTRAS[missing][0]}, which is not installed" in done.stdout
    assert f'pip install "exposim[{extra}]"' in done.stdout


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_the_command_without_its_extra_says_so_in_one_line(missing):
    done = without([missing], "from exposim.cli import main; main()")
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        f'error: this needs {missing}, which is not installed; run: pip install "exposim[cli]"'
    ]


def test_another_missing_module_is_no_missing_extra():
    done = without(["json"], "import exposim.plots")
    assert "MissingExtra" not in done.stderr


def test_a_missing_extra_is_an_import_error_of_this_package():
    assert issubclass(xs.MissingExtra, ImportError)
    assert issubclass(xs.MissingExtra, xs.ExposimError)


def test_what_is_loaded_on_use_can_be_found():
    assert {"analysis", "plots", "viewer", "Simulator"} <= set(dir(xs))
    assert xs.viewer.__name__ == "exposim.viewer"
    with pytest.raises(AttributeError, match="no attribute 'plot'"):
        _ = xs.plot


@pytest.mark.parametrize(
    ("module", "function"), [("viewer", "serve"), ("viewer", "render"), ("plots", "forces"), ("envs", "RobotEnv")]
)
def test_parts_are_found_without_an_import_of_their_own_and_list_their_functions_alone(module, function):
    listed = python(f"import exposim as xs; print(*dir(xs.{module}), callable(xs.{module}.{function}))").stdout.split()
    assert listed.pop() == "True"
    public = [name for name in listed if not name.startswith("_")]
    assert function in public
    assert public == sorted(getattr(xs, module).__all__)


def test_every_extra_is_one_of_the_project():
    text = PYPROJECT.read_text(encoding="utf-8")
    for package, extra in EXTRAS.values():
        (line,) = re.findall(rf"^{extra} = \[.*\]$", text, re.MULTILINE)
        assert f'"{package}>=' in line
