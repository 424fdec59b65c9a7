"""Going on with a saved run, if it is the one that is meant."""

from __future__ import annotations

from pathlib import Path

from exposim._durations import show_time
from exposim.cli.console import note
from exposim.cli.plan import TRAJECTORY, Flags, plan_again
from exposim.cli.schemes import label
from exposim.errors import InvalidArgument, UnreadableFile
from exposim.scenarios import SCENARIOS, Run
from exposim.scenarios.files import ScenarioFile
from exposim.simulation.settings import RunSettings
from exposim.simulation.trajectory import Trajectory


def find_run(folder: Path) -> Path:
    """The run in a folder."""
    path = folder / TRAJECTORY
    if not path.is_file():
        raise InvalidArgument(f"there is no run in {folder} to go on with; leave out --resume to begin one")
    return path


def resume(scenario: str, folder: Path, flags: Flags, file: Path | None = None) -> Run:
    """The run in a folder, where it stopped.

    Args:
        scenario: Which is meant: its name, its Python file, or the folder or trajectory itself.
        folder: That holds the run.
        flags: What was typed besides.
        file: The Python file that makes the scenario, if it was named besides.

    Raises:
        InvalidArgument: If there is none, or it is another one than the flags say, or it diverged.
    """
    trajectory = Trajectory.load(find_run(folder))
    if scenario.endswith(".py"):
        if file is not None:
            raise InvalidArgument(f"--scenario-file is for saved results, and {scenario} is none; leave it out")
        file = Path(scenario)
    _check_scenario(scenario, trajectory, folder)
    planned = plan_again(trajectory, flags, file)
    _check_settings(planned.start().settings, trajectory.settings, flags, folder)
    if trajectory.outcome.diverged_at is not None:
        raise InvalidArgument(
            f"the run in {folder} diverged at {trajectory.outcome.diverged_at:g} s and cannot go on; "
            f"begin anew, with a smaller --dt for example"
        )
    return Run.resume(trajectory, planned.scenario, planned.settings["duration"])


def refuse_to_replace(path: Path, overwrite: bool) -> None:
    """A run is not lost by mistake; only one that diverged makes room for the next."""
    if overwrite or not path.exists():
        return
    try:
        trajectory = Trajectory.load(path)
        outcome, settings = trajectory.outcome, trajectory.settings
        last = float(trajectory.t[-1])
    except UnreadableFile as error:
        raise InvalidArgument(f"{error}; replace it with --overwrite, or give another --output") from None
    if outcome.diverged_at is not None:
        note(f"replaces the run in {path.parent} that diverged at {outcome.diverged_at:g} s")
    elif outcome.finished:
        raise InvalidArgument(
            f"{path.parent} holds a finished run of {settings.scenario.name}, {last:g} s; "
            f"replace it with --overwrite, or give another --output"
        )
    else:
        raise InvalidArgument(
            f"{path.parent} holds an unfinished run, {last:g} of {settings.duration:g} s; "
            f"go on with --resume, or replace it with --overwrite"
        )


def holds_finished_run(path: Path) -> bool:
    """Whether there is a trajectory with nothing left to do."""
    try:
        return path.is_file() and Trajectory.load(path).outcome.finished
    except UnreadableFile:
        return False


def _check_scenario(scenario: str, trajectory: Trajectory, folder: Path) -> None:
    saved = trajectory.settings.scenario
    origin = saved.origin
    if scenario in SCENARIOS:
        same = origin is not None and origin.file is None and origin.name == scenario
    elif scenario.endswith(".py"):
        file = ScenarioFile.read(scenario)
        same = origin is not None and (origin.file == str(file.path) or origin.sha256 == file.sha256)
    else:
        given = Path(scenario)
        same = (given if given.is_dir() else given.parent).resolve() == folder.resolve()
    if not same:
        held = saved.name if origin is None else origin.address
        raise InvalidArgument(f"{folder} holds a run of {held}, not of {scenario}; give that, or another --output")


def _check_settings(given: RunSettings, saved: RunSettings, flags: Flags, folder: Path) -> None:
    typed = {
        "integrator": [name for name in ("integrator", "kernel") if getattr(flags, name) is not None],
        "accuracy": ["accuracy" if flags.dt is None else "dt"],
        "ground": list(flags.material),
        "scenario": list(flags.options),
        "robot": [] if flags.drive is None else ["kp", "kd"],
    }
    for key in ("scenario", "integrator", "accuracy", "dt", "control_period", "ground", "robot", "record_every"):
        names = typed.get(key, [key.replace("_", "-")])
        if getattr(given, key) != getattr(saved, key) and (key not in typed or names):
            without = ", ".join(f"--{name}" if name not in flags.options else _option(name) for name in names)
            raise InvalidArgument(
                f"{folder} holds a run with {_show(key, saved, flags)}, not {_show(key, given, flags)}; "
                f"resume it without {without}, or replace it with --overwrite"
            )


def _option(name: str) -> str:
    return f"--{name}" if name in ("robot", "contacts") else f"--option {name}"


def _show(key: str, settings: RunSettings, flags: Flags) -> str:
    """A setting as one types it; of the ground and the scenario only what was typed."""
    if key == "accuracy":
        return f"accuracy {settings.accuracy:g}" if settings.accuracy is not None else f"dt {show_time(settings.dt)}"
    if key in ("dt", "control_period"):
        return f"{key.replace('_', ' ')} {show_time(getattr(settings, key))}"
    if key == "integrator":
        return f"integrator {label(settings.integrator)}"
    if key == "ground":
        materials = [surface.material for surface in settings.ground]
        return " and ".join(
            ", ".join(f"{name} {_number(getattr(each, name))}" for name in flags.material) for each in materials
        )
    if key == "robot":
        drives = sorted({(drive.kp, drive.kd) for drive in settings.robot.drives})
        return " and ".join(f"kp {kp:g}, kd {kd:g}" for kp, kd in drives) or "no drives"
    if key == "scenario":
        options = {} if settings.scenario.origin is None else settings.scenario.origin.options
        return ", ".join(f"{name} {options.get(name, 'by default')}" for name in flags.options)
    return f"{key} {getattr(settings, key)}"


def _number(value: float | tuple[float, float]) -> str:
    return ",".join(f"{each:g}" for each in value) if isinstance(value, tuple) else f"{value:g}"
