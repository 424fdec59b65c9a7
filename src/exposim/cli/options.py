"""Options that several commands have, with their units."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from exposim.cli.schemes import KERNELS
from exposim.simulation.integrators import SCHEMES, Expo, PaperExpo
from exposim.sweeps.settings import SETTINGS

SCHEME, CONTACT, JOINTS, SCENARIO, OUTPUT = "Integration", "Contact", "Joints", "Scenario", "Output"
GRID, WHERE = "Grid", "Where"


def option(flag: str, metavar: str | None, panel: str, text: str) -> Any:
    """An option in a panel of the help; units in brackets are not mistaken for markup."""
    return typer.Option(flag, metavar=metavar, rich_help_panel=panel, help=escape(text), show_default=False)


def _with_default(names: Iterable[str], default: str) -> str:
    return ", ".join(f"{name} (default)" if name == default else name for name in names)


ScenarioName = Annotated[
    str,
    typer.Argument(
        metavar="SCENARIO",
        show_default=False,
        help="A name from 'exposim list', your own .py file, or saved results to run again with their settings.",
    ),
]
IntegratorName = Annotated[str | None, option("--integrator", "NAME", SCHEME, _with_default(SCHEMES, Expo.name))]
KernelName = Annotated[
    str | None, option("--kernel", "NAME", SCHEME, f"Of {PaperExpo.name}: {_with_default(KERNELS, 'auto')}")
]
Dt = Annotated[
    str | None, option("--dt", "TIME", SCHEME, "Time step [s]: 2ms, 1/8ms, 250us; from 1 on only with a unit")
]
Accuracy = Annotated[
    str | None,
    option(
        "--accuracy", "E", SCHEME, "Steps chosen by their error instead of --dt, such as 1e-3 [-]: smaller is closer"
    ),
]
ControlPeriod = Annotated[
    str | None,
    option("--control-period", "TIME", SCHEME, "Torques and targets are held this long [s] (default: the scenario's)"),
]
Duration = Annotated[str | None, option("--duration", "TIME", SCHEME, "Simulated time [s]: 5s, 500ms")]
Stiffness = Annotated[
    str | None,
    option("--stiffness", "K", CONTACT, "Of the ground [N/m]: 1e5, 100kN/m; or normal,tangential"),
]
Damping = Annotated[
    str | None,
    option("--damping", "B", CONTACT, "Of the ground [N·s/m]: 300, 0.3kNs/m; or normal,tangential"),
]
Friction = Annotated[str | None, option("--friction", "MU", CONTACT, "Coefficient of Coulomb friction [-]")]
Kp = Annotated[
    str | None,
    option("--kp", "KP", JOINTS, "Gain of drives on all actuated joints [N·m/rad, N/m], together with --kd"),
]
Kd = Annotated[str | None, option("--kd", "KD", JOINTS, "Velocity gain of these drives [N·m·s/rad, N·s/m]")]
RobotName = Annotated[
    str | None,
    option("--robot", "ROBOT", SCENARIO, "For drop and rough-drop: a known robot, or the path of a URDF or MJCF file"),
]
Contacts = Annotated[
    str | None,
    option(
        "--contacts",
        "FRAMES",
        SCENARIO,
        "For drop and rough-drop: frames that may touch: LF_FOOT,RF_FOOT; as balls with a radius [m]: LF_FOOT:2cm",
    ),
]
ScenarioOption = Annotated[
    list[str] | None,
    option("--option", "KEY=VALUE", SCENARIO, "Another option of the scenario, as often as needed: height=20cm"),
]
ScenarioFile = Annotated[
    Path | None,
    option(
        "--scenario-file",
        "FILE",
        SCENARIO,
        "The .py file that made saved results, which is then run wherever it is and whatever is in it now; without, "
        "it is run only if it has not changed and is in their folder or in the working directory",
    ),
]
RecordEvery = Annotated[
    int | None, option("--record-every", "N", OUTPUT, "Record one in so many steps (default: about 1 kHz)")
]
Output = Annotated[
    Path | None,
    option("--output", "FOLDER", OUTPUT, "Default: results/<scenario>, or with a number if that holds a finished run"),
]
Resume = Annotated[bool, option("--resume", None, OUTPUT, "Go on with the unfinished run in the folder")]
Overwrite = Annotated[bool, option("--overwrite", None, OUTPUT, "Replace the run in the folder, finished or not")]
NoReplay = Annotated[bool, option("--no-replay", None, OUTPUT, "Write no replay.html")]
FlightRecorderFolder = Annotated[
    Path | None,
    option(
        "--flight-recorder",
        "FOLDER",
        OUTPUT,
        "If it diverges, write the last 200 steps there; exposim replay says which contact or joint went first",
    ),
]
Autosave = Annotated[str, typer.Option("--autosave", hidden=True, help="Time between two saves [s]")]
SweptScenario = Annotated[
    str,
    typer.Argument(metavar="SCENARIO", show_default=False, help="A name from 'exposim list', or your own .py file."),
]
GridAxes = Annotated[
    list[str] | None,
    option(
        "--grid",
        "NAME=LIST",
        GRID,
        "Values of a setting with commas between, as often as needed: stiffness=1e4,1e5 dt=1ms,5ms. Settings: "
        f"{', '.join(SETTINGS)}, and options of the scenario such as robot or seed; two values for normal:tangential",
    ),
]
Workers = Annotated[
    int | None, option("--workers", "N", WHERE, "Cells at once (default: one per core, each in a process)")
]
Ray = Annotated[
    str | None,
    option("--ray", "ADDRESS", WHERE, "On Ray: auto starts one on this machine alone, host:port is a cluster"),
]
Slurm = Annotated[bool, option("--slurm", None, WHERE, "Print a script for sbatch that computes all in chunks")]
Chunks = Annotated[int | None, option("--chunks", "N", WHERE, "Of that script (default: one for 16 cells)")]
Chunk = Annotated[str | None, option("--chunk", "i/N", WHERE, "Compute one of N chunks, from 0/N on, and no more")]
Measure = Annotated[
    list[str] | None,
    option("--measure", "NAME", OUTPUT, "To print and plot, as often as needed: a column of sweep.csv"),
]
Retry = Annotated[bool, option("--retry", None, OUTPUT, "Compute failed cells again")]
SweepOutput = Annotated[Path | None, option("--output", "FOLDER", OUTPUT, "Default: results/<scenario>-sweep")]
Integrators = Annotated[
    str,
    option(
        "--integrators",
        "LIST",
        SCHEME,
        "With commas between; each may have a kernel and a step [s]: paper-expo:pade3@2ms,rk4@0.05ms "
        "(default: expo,explicit-euler)",
    ),
]
CompareOutput = Annotated[
    Path | None, option("--output", "FOLDER", OUTPUT, "Default: results/<scenario>-compare, or with a number")
]
CompareOverwrite = Annotated[bool, option("--overwrite", None, OUTPUT, "Replace the comparison in the folder")]
