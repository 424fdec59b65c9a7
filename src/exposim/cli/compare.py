"""The command ``compare``: one scenario by several integrators."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import typer

from exposim._tables import write_table
from exposim.analysis.summary import Summary
from exposim.cli import options
from exposim.cli.console import Status, complain, out, say
from exposim.cli.folders import default_folder, latest, next_free, occupied
from exposim.cli.plan import Flags, Plan, plan
from exposim.cli.schemes import label, parse_scheme
from exposim.cli.simulate import Interruption, progress_bar, simulate
from exposim.cli.tables import NOTHING, comparison_tables, natural_width
from exposim.errors import InvalidArgument
from exposim.robots.models import free_dofs
from exposim.robots.robot import Robot
from exposim.scenarios import Run
from exposim.scenarios.measures import has_floating_base
from exposim.simulation.trajectory import Trajectory

TABLE, PLOT = "compare.csv", "compare.png"


@dataclass(frozen=True)
class Difference:
    """How far a motion gets from another at the same times, at the most.

    Args:
        base: Of the base's position [m]; ``None`` for a fixed base.
        joints: Of a joint [rad, or m of a sliding one]; ``None`` without joints.
    """

    base: float | None
    joints: float | None


def command(
    scenario: options.ScenarioName,
    integrators: options.Integrators = "expo,explicit-euler",
    dt: options.Dt = None,
    accuracy: options.Accuracy = None,
    control_period: options.ControlPeriod = None,
    duration: options.Duration = None,
    stiffness: options.Stiffness = None,
    damping: options.Damping = None,
    friction: options.Friction = None,
    kp: options.Kp = None,
    kd: options.Kd = None,
    robot: options.RobotName = None,
    contacts: options.Contacts = None,
    option: options.ScenarioOption = None,
    scenario_file: options.ScenarioFile = None,
    output: options.CompareOutput = None,
    overwrite: options.CompareOverwrite = False,
) -> None:
    """Simulate a scenario by several integrators, side by side.

    Differences are the greatest to the first integrator, at times that both reached. That one diverges is no failure.
    With --accuracy, steps of those that have none of their own (such as expo@1ms) are chosen by their error.
    """
    flags = Flags.parse(
        dt=dt,
        accuracy=accuracy,
        control_period=control_period,
        duration=duration,
        stiffness=stiffness,
        damping=damping,
        friction=friction,
        kp=kp,
        kd=kd,
        robot=robot,
        contacts=contacts,
        option=option,
    )
    base = plan(scenario, flags, scenario_file)
    runs = _runs(base, integrators)
    folder = output or _folder(base, overwrite)
    with occupied(folder, (TABLE, PLOT)):
        if (folder / TABLE).exists() and not overwrite:
            raise InvalidArgument(f"{folder} holds a comparison; replace it with --overwrite, or give another --output")
        _compare(base, runs, folder)
    raise typer.Exit(Status.WELL)


def _folder(base: Plan, overwrite: bool) -> Path:
    """The last of results/<scenario>-compare, …-2, …, or a new one if that holds a comparison."""
    folder = default_folder(f"{base.scenario.name}-compare")
    last = latest(folder)
    return next_free(folder) if (last / TABLE).exists() and not overwrite else last


def _compare(base: Plan, runs: Mapping[str, Run], folder: Path) -> None:
    """Simulates all, prints the table and writes it down."""
    with Interruption() as interruption, progress_bar() as progress:
        for name, run in runs.items():
            simulate(run, progress, name, interruption)
    if interruption.signal is not None:
        complain("interrupted; nothing was written")
        raise typer.Exit(interruption.status)
    trajectories = {name: run.trajectory for name, run in runs.items()}
    summaries = {name: Summary.of(run.scenario, trajectories[name], run) for name, run in runs.items()}
    first = next(iter(trajectories.values()))
    differences = {
        name: Difference(None, None) if trajectory is first else difference(base.scenario.robot, trajectory, first)
        for name, trajectory in trajectories.items()
    }
    rows = {name: _rows(each) for name, each in differences.items()}
    for table in comparison_tables(summaries, rows, out().width):
        out(least=natural_width(table)).print(table)
    _write_table(summaries, differences, folder / TABLE)
    plots: Any = importlib.import_module("exposim.plots")  # slow to import
    plots.save(plots.comparison(trajectories), folder / PLOT)
    for what, file in (("table", TABLE), ("plot", PLOT)):
        say(f"{what:11}{folder / file}")
    for name, summary in summaries.items():
        if summary.complaints and summary.stable:
            say(f"{name}: {'; '.join(summary.complaints)}", "yellow")


def difference(robot: Robot, one: Trajectory, other: Trajectory) -> Difference:
    """Greatest difference of two motions, at the beginnings of the control periods that both reached."""
    period = one.settings.control_period
    rows = [_rows_by_period(each.t, period) for each in (one, other)]
    _, here, there = np.intersect1d(rows[0][0], rows[1][0], return_indices=True)
    q_one, q_other = one.q[rows[0][1][here]], other.q[rows[1][1][there]]
    apart = np.array([pin.difference(robot.model, a, b) for a, b in zip(q_one, q_other, strict=True)])
    if not has_floating_base(one):
        return Difference(None, _greatest(apart))
    own = np.setdiff1d(np.arange(robot.nv), free_dofs(robot.model))
    return Difference(_greatest(np.linalg.norm(q_one[:, :3] - q_other[:, :3], axis=1)), _greatest(apart[:, own]))


def _rows_by_period(t: Any, period: float) -> tuple[Any, Any]:
    """Numbers of the control periods, and the rows at which they begin."""
    number = np.rint(t / period).astype(int)
    rows = np.flatnonzero(np.abs(t - number * period) < 1e-6 * period)
    return number[rows], rows


def _greatest(values: Any) -> float | None:
    return float(np.abs(values).max()) if values.size else None


def _runs(base: Plan, integrators: str) -> dict[str, Run]:
    """One run for each entry, by label."""
    runs: dict[str, Run] = {}
    for text in integrators.split(","):
        scheme = parse_scheme(text)
        settings = dict(base.settings)
        if scheme.dt is not None:
            settings |= {"dt": scheme.dt, "accuracy": None, "record_every": None}
        run = dataclasses.replace(base, integrator=scheme.integrator, settings=settings).start()
        name = label(scheme.integrator, run.settings.dt, run.settings.accuracy)
        if name in runs:
            raise InvalidArgument(f"integrators is {integrators!r}, which has {name} twice; give each once")
        runs[name] = run
    return runs


def _rows(apart: Difference) -> dict[str, str]:
    rows = {"base differs by [m]": apart.base, "joints differ by [rad]": apart.joints}
    return {name: NOTHING if value is None else f"{value:.3g}" for name, value in rows.items()}


def _write_table(summaries: Mapping[str, Summary], differences: Mapping[str, Difference], path: Path) -> None:
    """One row per integrator, numbers in SI units."""
    rows = []
    for name, summary in summaries.items():
        apart = {f"difference_{key}": value for key, value in dataclasses.asdict(differences[name]).items()}
        rows.append({"label": name} | summary.to_row() | apart)
    write_table(rows, path)
