"""The command ``run``: simulates a scenario and writes down what came of it."""

from __future__ import annotations

import importlib
import shlex
import signal
from pathlib import Path
from typing import Any

import typer

from exposim import scenarios
from exposim._durations import show_time
from exposim._writing import writing
from exposim.analysis.summary import Summary
from exposim.cli import options
from exposim.cli.console import Status, complain, note, out, say
from exposim.cli.folders import clear, default_folder, is_numbered, latest, next_free, occupied
from exposim.cli.plan import TRAJECTORY, Flags, Plan, find_trajectory, plan
from exposim.cli.quantities import TIME, parse
from exposim.cli.resume import find_run, holds_finished_run, refuse_to_replace, resume
from exposim.cli.schemes import label
from exposim.cli.simulate import Interruption, progress_bar, simulate, undisturbed
from exposim.cli.tables import summary_table
from exposim.errors import InvalidArgument, UnwritableFile
from exposim.scenarios import Run
from exposim.simulation.flight_recorder import FlightRecorder
from exposim.simulation.trajectory import Trajectory

SUMMARY, REPLAY, PLOTS = "summary.json", "replay.html", ("motion.png", "torques.png", "forces.png")
FILES = (TRAJECTORY, SUMMARY, REPLAY, *PLOTS)


def command(
    scenario: options.ScenarioName,
    integrator: options.IntegratorName = None,
    kernel: options.KernelName = None,
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
    output: options.Output = None,
    record_every: options.RecordEvery = None,
    resume_: options.Resume = False,
    overwrite: options.Overwrite = False,
    no_replay: options.NoReplay = False,
    flight_recorder: options.FlightRecorderFolder = None,
    autosave: options.Autosave = "30s",
) -> None:
    """Simulate a scenario; write trajectory, summary, plots and replay.

    What is not given is as the scenario has it. An interrupted run (Ctrl-C) is saved and goes on with --resume. A
    finished run is not replaced: the next of the same name goes into a folder with a number.
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
        integrator=integrator,
        kernel=kernel,
        record_every=record_every,
    )
    save_every = parse("autosave", autosave, TIME, least=0.0)
    if resume_ and overwrite:
        raise InvalidArgument("--resume goes on with a run and --overwrite replaces it; give one of them")
    if resume_:
        folder = output or _folder_to_resume(scenario, flags)
        find_run(folder)
        with occupied(folder, FILES):
            run = resume(scenario, folder, flags, scenario_file)
            if run.done:
                say(f"{folder} holds a finished run of {run.t:g} s; a longer --duration extends it")
                return
            _record_flight(run, flight_recorder)
            _simulate(run, folder, save_every)
            raise typer.Exit(_report(run, folder, replay=not no_replay))
    what = plan(scenario, flags, scenario_file)
    run = what.start()
    folder = output or _folder(what, overwrite)
    with occupied(folder, FILES):
        refuse_to_replace(folder / TRAJECTORY, overwrite)
        _record_flight(run, flight_recorder)
        _simulate(run, folder, save_every)
        raise typer.Exit(_report(run, folder, replay=not no_replay))


def _record_flight(run: Run, folder: Path | None) -> None:
    if folder is not None:
        FlightRecorder(run.sim, folder)


def _simulate(run: Run, folder: Path, save_every: float) -> None:
    """Runs to the end and saves the trajectory; what was simulated is saved whatever happens."""
    path = folder / TRAJECTORY
    fresh = run.steps_done == 0

    def save() -> None:
        if fresh:
            clear(folder, (SUMMARY, REPLAY, *PLOTS))  # of an earlier run
        run.trajectory.save(path)

    def save_in_between() -> None:
        try:
            save()
        except UnwritableFile as error:  # by the end there may be space
            note(f"{error}; the run goes on")

    with Interruption() as interruption, progress_bar() as progress:
        scheme = label(run.sim.integrator, run.settings.dt, run.settings.accuracy)
        span = f"{run.settings.duration:g} s" + ("" if fresh else f" from {run.t:g} s on")
        say(f"{run.scenario.name}: {run.scenario.robot.name}, {scheme}, {span} → {folder}")
        try:
            simulate(run, progress, run.scenario.name, interruption, save_in_between, save_every)
        except KeyboardInterrupt:  # the second: the controller did not come back
            interruption.signal = interruption.signal or signal.SIGINT
        except Exception:
            if run.steps_done:
                save()
                say(f"What was simulated up to {run.t:g} s is in {path}")
            raise
        with undisturbed():
            save()
    if interruption.signal is not None and not run.done:
        where = f"./{folder}" if str(folder) in scenarios.SCENARIOS else str(folder)
        complain(
            f"interrupted at {run.t:g} of {run.settings.duration:g} s; saved in {path}; "
            f"go on with: exposim run {shlex.quote(where)} --resume"
        )
        raise typer.Exit(interruption.status)


def _report(run: Run, folder: Path, *, replay: bool) -> Status:
    """Writes summary, plots and replay, prints the table and where everything is."""
    trajectory = run.trajectory
    summary = Summary.of(run.scenario, trajectory, run)
    with writing(folder / SUMMARY) as stream:
        stream.write(summary.to_json().encode())
    out().print(summary_table(summary, f"{summary.scenario}, {summary.robot}, {show_time(summary.simulated)}"))
    written = {"trajectory": [TRAJECTORY], "summary": [SUMMARY], "plots": _plot(trajectory, run, folder)}
    if replay:
        viewer: Any = importlib.import_module("exposim.viewer")  # slow to import
        viewer.write_replay(trajectory, folder / REPLAY, run.scenario.robot, run.scenario.ground)
        written["replay"] = [REPLAY]
    for what, names in written.items():
        say(f"{what:11}{', '.join(str(folder / name) for name in names)}")
    say(f"{'view':11}exposim view {shlex.quote(str(folder))}")
    if not summary.stable:
        complain(summary.divergence or "the simulation diverged")
        return Status.DIVERGED
    if summary.complaints:
        complain(f"{summary.robot} failed its task: {'; '.join(summary.complaints)}")
        return Status.FAILED
    return Status.WELL


def _plot(trajectory: Trajectory, run: Run, folder: Path) -> list[str]:
    plots: Any = importlib.import_module("exposim.plots")  # slow to import
    robot = run.scenario.robot
    figures = (plots.motion(trajectory, robot), plots.torques(trajectory, robot), plots.forces(trajectory))
    made = {name: figure for name, figure in zip(PLOTS, figures, strict=True) if figure is not None}
    for name, figure in made.items():
        plots.save(figure, folder / name)
    return list(made)


def _folder(what: Plan, overwrite: bool) -> Path:
    """The last of results/<scenario>, results/<scenario>-2, …, or a new one if that holds a finished run."""
    folder = default_folder(what.scenario.name)
    source = None if what.source is None else what.source.parent.resolve()
    if source is not None and is_numbered(source, folder.resolve()):
        folder = folder.with_name(source.name + "-again")  # beside what it comes from
    last = latest(folder)
    return last if overwrite or not holds_finished_run(last / TRAJECTORY) else next_free(folder)


def _folder_to_resume(scenario: str, flags: Flags) -> Path:
    """The folder that the last run of that scenario is in by default."""
    if scenario in scenarios.SCENARIOS:
        return latest(default_folder(scenario))
    if scenario.endswith(".py"):
        return latest(default_folder(scenarios.get(scenario, **flags.options).name))
    return find_trajectory(scenario).parent
