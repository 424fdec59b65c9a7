"""From what was typed to what is simulated."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from exposim import scenarios
from exposim.cli.console import note
from exposim.cli.quantities import LENGTH, parse, parse_option
from exposim.cli.reading import read
from exposim.cli.schemes import integrator_of
from exposim.errors import InvalidArgument, UnknownFile
from exposim.robots.joints import Drive
from exposim.scenarios import Run, Scenario
from exposim.simulation.integrators import Expo, Integrator
from exposim.simulation.trajectory import Trajectory

TRAJECTORY = "trajectory.npz"
# Arguments of a run that flags can give, by the same names.
SETTINGS = ("dt", "accuracy", "control_period", "duration", "record_every")


@dataclass(frozen=True)
class Flags:
    """What was typed, in SI units; ``None`` for what was not."""

    integrator: str | None = None
    kernel: str | None = None
    dt: float | None = None
    accuracy: float | None = None
    control_period: float | None = None
    duration: float | None = None
    record_every: int | None = None
    material: Mapping[str, Any] = field(default_factory=dict)
    drive: Drive | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def parse(
        cls,
        *,
        dt: str | None = None,
        accuracy: str | None = None,
        record_every: int | None = None,
        control_period: str | None = None,
        duration: str | None = None,
        stiffness: str | None = None,
        damping: str | None = None,
        friction: str | None = None,
        kp: str | None = None,
        kd: str | None = None,
        robot: str | None = None,
        contacts: str | None = None,
        option: list[str] | None = None,
        **others: Any,
    ) -> Flags:
        """Reads quantities and options of the scenario; the rest as it is."""
        for name, given in (("--dt", dt), ("--record-every", record_every)):
            if accuracy is not None and given is not None:
                raise InvalidArgument(f"--accuracy chooses the steps, and all are recorded; leave out {name}, or it")
        typed = {"stiffness": stiffness, "damping": damping, "friction": friction}
        return cls(
            dt=read("dt", dt),
            accuracy=read("accuracy", accuracy),
            record_every=record_every,
            control_period=read("control_period", control_period),
            duration=read("duration", duration),
            material={name: read(name, text) for name, text in typed.items() if text is not None},
            drive=_drive(kp, kd),
            options=read_options(robot, contacts, option or []),
            **others,
        )


@dataclass(frozen=True)
class Plan:
    """A scenario and how to simulate it.

    Args:
        scenario: What.
        integrator: How.
        settings: Further arguments of :class:`exposim.scenarios.Run`.
        source: The saved trajectory that it comes from, if it does.
    """

    scenario: Scenario
    integrator: Integrator
    settings: Mapping[str, Any]
    source: Path | None = None

    def start(self) -> Run:
        """A run at its beginning."""
        return Run(self.scenario, self.integrator, **self.settings)


def plan(scenario: str, flags: Flags, file: Path | None = None) -> Plan:
    """What a scenario's name, a Python file or a saved trajectory and the flags ask for.

    Args:
        scenario: Which.
        flags: What was typed besides.
        file: The Python file that makes the scenario of a saved trajectory, if it was named.
    """
    source = _saved(scenario)
    if source is not None:
        return plan_again(Trajectory.load(source), flags, file, source)
    if file is not None:
        raise InvalidArgument(f"--scenario-file is for saved results, and {scenario} is none; leave it out")
    settings = {name: getattr(flags, name) for name in SETTINGS}
    made = _with_drives(_on_material(scenarios.get(scenario, **flags.options), flags), flags)
    return Plan(made, integrator_of(flags.integrator, flags.kernel, Expo()), settings)


def plan_again(trajectory: Trajectory, flags: Flags, file: Path | None = None, source: Path | None = None) -> Plan:
    """The run that made a trajectory, but for what the flags change."""
    saved = trajectory.settings
    origin = saved.scenario.origin
    made = scenarios.of(trajectory, file, flags.options)
    if origin is not None and made.origin is not None and made.origin.sha256 != origin.sha256:
        note(f"{file} is not what {origin.file} was when the run was saved")
    settings: dict[str, Any] = {name: getattr(saved, name) for name in SETTINGS}
    if flags.dt is not None:
        settings["accuracy"] = None
    elif flags.accuracy is not None or saved.accuracy is not None:
        settings["dt"] = settings["record_every"] = None  # chosen by it
    if flags.dt not in (None, saved.dt) or flags.control_period not in (None, saved.control_period):
        settings["record_every"] = None
    if not made.is_controlled and (flags.dt or 0.0) > saved.control_period:
        settings["control_period"] = None  # over which nothing is held
    settings |= {name: value for name in SETTINGS if (value := getattr(flags, name)) is not None}
    integrator = integrator_of(flags.integrator, flags.kernel, saved.integrator)
    return Plan(_with_drives(_on_material(made, flags), flags), integrator, settings, source)


def find_trajectory(path: str | Path) -> Path:
    """The file itself, or the one in a folder of results."""
    given = Path(path)
    found = given / TRAJECTORY if given.is_dir() else given
    if not found.is_file():
        made_by = "; exposim run makes one" if given.is_dir() or given.suffix in ("", ".npz") else ""
        raise UnknownFile(f"there is no trajectory {found}{made_by}")
    return found


def _saved(scenario: str) -> Path | None:
    """The trajectory that is meant, if it is neither a scenario's name nor a Python file."""
    if scenario in scenarios.SCENARIOS or scenario.endswith(".py"):
        return None
    return find_trajectory(scenario) if scenario.endswith(".npz") or Path(scenario).exists() else None


def _on_material(scenario: Scenario, flags: Flags) -> Scenario:
    if not flags.material:
        return scenario
    if not scenario.ground:
        raise InvalidArgument(f"scenario {scenario.name!r} has no ground; leave out {', '.join(flags.material)}")
    return scenario.with_material(**flags.material)


def _with_drives(scenario: Scenario, flags: Flags) -> Scenario:
    return scenario if flags.drive is None else scenario.with_drives(flags.drive)


def _drive(kp: str | None, kd: str | None) -> Drive | None:
    if kp is None and kd is None:
        return None
    if kp is None or kd is None:
        raise InvalidArgument(f"--{'kd' if kp is None else 'kp'} is given alone; drives have both, --kp and --kd")
    return Drive(kp=read("kp", kp), kd=read("kd", kd))


def read_options(robot: str | None, contacts: str | None, pairs: list[str]) -> dict[str, Any]:
    """Options of a scenario from what was typed."""
    options: dict[str, Any] = {}
    if robot is not None:
        # As seen from anywhere, so that the run can be repeated from another folder.
        options["robot"] = str(Path(robot).resolve()) if Path(robot).is_file() else robot
    if contacts is not None:
        options["contacts"] = _contacts(contacts)
    for pair in pairs:
        key, found, value = pair.partition("=")
        if not found or not key.strip().isidentifier():
            raise InvalidArgument(f"option is {pair!r}; give key=value such as height=0.2")
        options[key.strip()] = parse_option(value.strip())
    return options


def _contacts(text: str) -> list[str] | dict[str, float]:
    """Names of frames, or where any has one the radius of each [m]: ``LF_FOOT:2cm,RF_FOOT:2cm``."""
    radii: dict[str, float | None] = {}
    for each in (entry.strip() for entry in text.split(",")):
        name, _, radius = each.rpartition(":")
        if name and re.match(r"\s*[-+.]?\d", radius):  # else a colon in the frame's name
            radii[name.strip()] = parse(f"radius of {name.strip()!r}", radius, LENGTH, least=0.0)
        elif each:
            radii[each] = None
    if not radii:
        raise InvalidArgument(f"contacts is {text!r}; give names of frames such as LF_FOOT,RF_FOOT or LF_FOOT:2cm")
    if all(radius is None for radius in radii.values()):
        return list(radii)
    return {name: radius or 0.0 for name, radius in radii.items()}
