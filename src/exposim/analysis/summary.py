"""What came of a run, in a few numbers."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from exposim import _html
from exposim.scenarios import Run, Scenario
from exposim.scenarios.measures import forces_by_direction, has_floating_base, slip
from exposim.simulation.records import describe
from exposim.simulation.trajectory import Trajectory

UNITS = {
    "dt": "s",
    "control_period": "s",
    "smallest": "s",
    "largest": "s",
    "simulated": "s",
    "diverged_at": "s",
    "distance": "m",
    "height": "m",
    "peak_force": "N",
    "peak_force_at": "s",
    "mean_force": "N",
    "slip": "m",
    "seconds_per_step": "s",
    "seconds_per_control": "s",
}


@dataclass(frozen=True)
class Summary:
    """What came of a run.

    Attributes:
        scenario: Its name.
        robot: Its name.
        integrator: Type and options, as in the settings of a trajectory.
        dt: Time step [s].
        accuracy: By which steps were chosen, none longer than ``dt``; ``None`` where all were of that length.
        steps: That were taken.
        rejected: That were taken again with a shorter step, if steps were chosen.
        smallest: Of the steps [s], likewise.
        largest: Of the steps [s], likewise.
        control_period: Torques, targets and wrenches were held this long [s]; ``None`` if the scenario has none.
        simulated: Time reached [s].
        finished: Whether all of the planned time was simulated.
        diverged_at: Time at which the simulation diverged [s], if it did.
        divergence: How, with advice.
        measures: The scenario's own, the unit in brackets.
        complaints: Where the robot failed its task; empty if it did not.
        distance: Of the base from where it began, along the ground [m]; ``None`` for a fixed base.
        height: Of the base at the end [m]; likewise.
        peak_force: Greatest normal force at one contact [N]; ``None`` without contacts.
        peak_force_contact: Which.
        peak_force_at: When [s].
        mean_force: Sum of the normal forces, on average over the time [N].
        slip: Longest way that a contact slid [m].
        slip_contact: Which.
        seconds_per_step: Median time of a step [s], if it was measured.
        seconds_per_control: Median time of a call of the controller [s], likewise.
        real_time_factor: Simulated time over computing time, steps and controller together.
    """

    scenario: str
    robot: str
    integrator: Mapping[str, Any]
    dt: float
    simulated: float
    finished: bool
    accuracy: float | None = None
    steps: int = 0
    rejected: int | None = None
    smallest: float | None = None
    largest: float | None = None
    control_period: float | None = None
    diverged_at: float | None = None
    divergence: str | None = None
    measures: Mapping[str, float] = field(default_factory=dict)
    complaints: tuple[str, ...] = ()
    distance: float | None = None
    height: float | None = None
    peak_force: float | None = None
    peak_force_contact: str | None = None
    peak_force_at: float | None = None
    mean_force: float | None = None
    slip: float | None = None
    slip_contact: str | None = None
    seconds_per_step: float | None = None
    seconds_per_control: float | None = None
    real_time_factor: float | None = None

    @property
    def stable(self) -> bool:
        """Whether it did not diverge."""
        return self.diverged_at is None

    @property
    def succeeded(self) -> bool:
        """Whether the robot did its task."""
        return self.stable and not self.complaints

    @classmethod
    def of(cls, scenario: Scenario, trajectory: Trajectory, run: Run | None = None) -> Summary:
        """Measures a trajectory.

        Args:
            scenario: Whose judgement is asked.
            trajectory: What was recorded.
            run: That made it, for the computing times.
        """
        settings, outcome = trajectory.settings, trajectory.outcome
        with np.errstate(all="ignore"):  # what came just before a divergence may be beyond all bounds
            judgement = scenario.judge(trajectory)
            parts = _base(trajectory) | _forces(trajectory) | _steps(trajectory, run)
            parts |= {} if run is None else _times(run)
        return cls(
            scenario=settings.scenario.name,
            robot=settings.robot.name,
            integrator=describe(settings.integrator),
            dt=settings.dt,
            simulated=float(trajectory.t[-1]),
            finished=outcome.finished,
            accuracy=settings.accuracy,
            steps=outcome.steps,
            control_period=settings.control_period if scenario.is_controlled else None,
            diverged_at=outcome.diverged_at,
            divergence=outcome.divergence,
            measures={name: float(value) for name, value in judgement.measures.items()},
            complaints=tuple(judgement.complaints),
            **parts,
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data, with ``stable``, ``succeeded`` and the units; what is not finite becomes ``None``."""
        result = {"stable": self.stable, "succeeded": self.succeeded} | asdict(self) | {"units": UNITS}
        plain: dict[str, Any] = _finite(result)
        return plain

    def to_row(self) -> dict[str, Any]:
        """Of a table: plain values by name, the scenario's measures among them."""
        row = self.to_dict()
        measures = row.pop("measures")
        for key in ("units", "divergence"):
            del row[key]
        row["integrator"] = self.integrator["type"]
        row["kernel"] = self.integrator.get("kernel")
        row["complaints"] = "; ".join(self.complaints)
        row.update(measures)
        return row

    def to_json(self) -> str:
        """As :meth:`to_dict`, in text."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    def _repr_html_(self) -> str:
        outcome = "yes" if self.stable else f"no, diverged at {self.diverged_at:.4g} s"
        rows = [("stable", outcome), ("task", "done" if self.succeeded else "; ".join(self.complaints) or "failed")]
        rows += [(name, f"{value:.4g}") for name, value in self.measures.items()]
        for name, unit in UNITS.items():
            value = getattr(self, name)
            if value is not None and name not in ("dt", "diverged_at", "peak_force_at"):
                contact = {"peak_force": self.peak_force_contact, "slip": self.slip_contact}.get(name)
                rows.append(
                    (f"{name} [{unit}]".replace("_", " "), f"{value:.4g}" + (f" at {contact}" if contact else ""))
                )
        if self.real_time_factor is not None:
            rows.append(("real-time factor", f"{self.real_time_factor:.3g}×"))
        scheme = self.integrator.get("type", "")
        return _html.table(f"{self.scenario} · {self.robot} · {scheme} · dt = {1e3 * self.dt:g} ms", rows)


def _base(trajectory: Trajectory) -> dict[str, Any]:
    if not has_floating_base(trajectory):
        return {}
    position = trajectory.q[:, :3]
    return {
        "distance": float(np.linalg.norm(position[-1, :2] - position[0, :2])),
        "height": float(position[-1, 2]),
    }


def _forces(trajectory: Trajectory) -> dict[str, Any]:
    names = trajectory.contact_names
    if not names:
        return {}
    normal, _ = forces_by_direction(trajectory)
    when, which = np.unravel_index(int(np.argmax(normal)), normal.shape)
    total, t = normal.sum(axis=1), trajectory.t
    span = t[-1] - t[0]
    mean = float(np.sum(0.5 * (total[1:] + total[:-1]) * np.diff(t)) / span) if span > 0.0 else float(total[0])
    slid = slip(trajectory)
    return {
        "peak_force": float(normal[when, which]),
        "peak_force_contact": names[which],
        "peak_force_at": float(t[when]),
        "mean_force": mean,
        "slip": float(slid.max()),
        "slip_contact": names[int(np.argmax(slid))],
    }


def _steps(trajectory: Trajectory, run: Run | None) -> dict[str, Any]:
    """That were chosen by accuracy, all of which are recorded."""
    if trajectory.settings.accuracy is None or len(trajectory) < 2:
        return {}
    sizes = np.diff(trajectory.t)
    rejected = None if run is None else run.rejected
    return {"rejected": rejected, "smallest": float(sizes.min()), "largest": float(sizes.max())}


def _times(run: Run) -> dict[str, float]:
    if not run.seconds_per_step:
        return {}
    steps, calls = np.array(run.seconds_per_step), np.array(run.seconds_per_control)
    per_period = run.steps_per_period if run.accuracy is None else len(steps) / len(calls)
    computing = per_period * float(steps.mean()) + float(calls.mean())
    return {
        "seconds_per_step": float(np.median(steps)),
        "seconds_per_control": float(np.median(calls)),
        "real_time_factor": run.control_period / computing,
    }


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
