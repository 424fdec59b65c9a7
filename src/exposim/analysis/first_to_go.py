"""Which contact or joint went first, in the steps before a divergence.

A simulation flies apart because something puts energy in: a torque that was held for too long, a spring that an
explicit scheme cannot follow. Velocities and forces of all that is coupled to it grow at the same rate, so that they do
not tell cause from effect, but their work does: it is positive where the energy comes from.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exposim._checks import Array
from exposim._durations import show_time
from exposim.simulation.flight_energy import Source
from exposim.simulation.flight_replay import Flight
from exposim.simulation.integrators import Expo, PaperExpo

# Work is summed over so many steps, so that springs which give back what they were given count as nothing.
TOGETHER = 4
# Beyond the median by so many deviations, of what anything usually does, energy is too much.
UNUSUAL = 10.0
# What is less than this share of the robot's energy in motion is never too much.
NEGLIGIBLE = 1e-3
# Deviation of a normal distribution by its median absolute deviation.
_BY_MAD = 1.4826


@dataclass(frozen=True)
class Gone:
    """A source of energy that did not come back.

    Args:
        source: Contact, joint or wrench.
        step: From which on it put in more than anything usually does, from 0.
        t: When that step began [s].
        energy: That it put in since, at most [J].
    """

    source: Source
    step: int
    t: float
    energy: float


@dataclass(frozen=True, eq=False)
class FirstToGo:
    """Who put energy into a robot until it flew apart, in the order of time.

    Args:
        gone: Those that put in more than usual for good, the first first. Of the same step, more energy first.
        usual: What counted as too much in a few steps [J].
        is_sudden: Whether nothing was unusual before the step that diverged; ``gone`` is then who put in most, if any.
        advice: What may help.
    """

    gone: tuple[Gone, ...]
    usual: float
    is_sudden: bool
    advice: tuple[str, ...]

    @property
    def first(self) -> Source | None:
        """Which contact or joint went first; ``None`` if nothing put energy in before the step that diverged."""
        return self.gone[0].source if self.gone else None


def first_to_go(flight: Flight) -> FirstToGo:
    """Looks for the source of the energy.

    The work of every source is summed over four steps. Too much is what is more than anything does in the first half of
    the steps, by the largest of all medians plus ten deviations (of the median absolute deviation), and more than a
    thousandth of the kinetic energy of that half, by its median. A source is gone from the first step on after which it
    never does less for longer than four steps.
    """
    sums = {source: running_sum(work) for source, work in flight.work.items()}
    usual = max((_usual(each) for each in sums.values()), default=0.0)
    usual = max(usual, NEGLIGIBLE * float(np.median(flight.energy[: len(flight) // 2 + 1, 0])))
    since = {source: _gone_from(each > usual) for source, each in sums.items()}
    gone = [_gone(flight, source, step) for source, step in since.items() if step is not None]
    is_sudden = not gone
    if is_sudden:
        most = {source: _most(work) for source, work in flight.work.items()}
        gone = [_gone(flight, source, 0) for source, energy in most.items() if energy == max(most.values()) > 0.0]
    gone.sort(key=lambda each: (each.step, -each.energy))
    return FirstToGo(tuple(gone), usual, is_sudden, _advice(flight, gone[0].source if gone else None, is_sudden))


def _gone(flight: Flight, source: Source, step: int) -> Gone:
    return Gone(source, step, float(flight.t[step]), _most(flight.work[source][step:]))


def _most(work: Array) -> float:
    """That it had put in at any time: in the end, when all turns by more than a round in a step, work means nothing."""
    return float(np.cumsum(work).max(initial=0.0))


def running_sum(work: Array) -> Array:
    """Of the last four steps up to each [J], (n,)."""
    return np.asarray(np.convolve(work, np.ones(TOGETHER))[: len(work)])


def _usual(values: Array) -> float:
    values = values[: max(TOGETHER, len(values) // 2)]
    median = float(np.median(values))
    return median + UNUSUAL * _BY_MAD * float(np.median(np.abs(values - median)))


def _gone_from(is_much: NDArray[np.bool_]) -> int | None:
    """The first of the steps from which on there is never a longer break, up to the end."""
    steps = np.flatnonzero(is_much)
    if not steps.size or len(is_much) - 1 - steps[-1] >= TOGETHER:
        return None
    breaks = np.flatnonzero(np.diff(steps) > TOGETHER)
    return int(steps[breaks[-1] + 1 if breaks.size else 0])


def _advice(flight: Flight, first: Source | None, is_sudden: bool) -> tuple[str, ...]:
    """What is true of the simulator at the last good state, and of what went first."""
    sim = flight.sim
    step = show_time(sim.dt, 3)
    lines = []
    if is_sudden and len(flight) < 2 * TOGETHER:
        lines.append(f"{len(flight)} steps are too few to say what is usual: look at the first ones")
    elif is_sudden:
        lines.append(
            "nothing was unusual before the step that diverged: look at what it was given (torques, wrenches, "
            "targets), and at surfaces of your own"
        )
    joints = sim.advise().joints
    if first is None:
        lines.append(f"take a smaller step than {step}")
    elif first.kind == "contact":
        if isinstance(sim.integrator, Expo):
            lines.append(f"take a smaller step than {step}")
        else:
            stable = sim.advise().explicit_euler_dt
            known = f"; with the contacts of the end, explicit Euler is stable up to {show_time(stable, 3)}"
            lines.append(f"take Expo(), or a smaller step than {step}" + (known if np.isfinite(stable) else ""))
    elif first.kind == "wrench":
        lines.append(f"the wrench at {first.name} is held for each call; make it smaller, or calls shorter")
    elif first.by == "motor":
        lines += _advice_on_motor(flight, first.name)
    elif first.by == "given torque":
        lines.append(f"the torque on {first.name}, which has no motor, is yours: make it smaller, or hold it shorter")
    elif isinstance(sim.integrator, (Expo, PaperExpo)) and first.by == "limit":
        lines.append(f"{first.name} is thrown into its limit: look at what moves it; or give the limit more damping")
    else:
        lines.append(f"take Expo(), which integrates it exactly, or a smaller step than {step}")
    if joints is not None and not joints.stable:
        lines.append(
            f"the joints are unstable at {step} with this scheme: at most {show_time(joints.largest_dt, 3)}, or Expo()"
        )
    return tuple(lines)


def _advice_on_motor(flight: Flight, name: str) -> list[str]:
    sim = flight.sim
    if name in sim.robot.drives and not isinstance(sim.integrator, Expo):
        return ["take Expo(), in which drives are inside the step, or lower the gains of the drive"]
    joints = sim.advise().joints
    known = ""
    if joints is not None and joints.lightest == name:
        known = f" (kd below {2.0 * joints.least_inertia / sim.dt:.2g} is stable where it is now)"
    return [
        f"if its torque comes from a controller of yours, it is held for too long: lower the gains{known}, hold it "
        f"shorter, or give them as a drive, robot.replace(drives=...)",
    ]
