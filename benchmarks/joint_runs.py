"""Whether robots with drives stay finite and gain no energy: standing, dropped, falling; random targets and torques.

    python benchmarks/joint_runs.py [energy] [random] [--quick] [--settings "go2 100/5" …] [--steps 5 10] [--seeds 1]
    python benchmarks/joint_runs.py random --episodes 10 --seconds 20

*Energy*: 5 s with the gains that people use, the target the posture of rest. Two balances, whose largest rise from any
instant to any later one is shown as a share of what is allowed, 1e-3 m g·1 m + 1 % of the work of the motors ∫|τ·v|dt:

* kinetic, gravitational and elastic energy (of contacts and limits) minus ∫τ·v dt, with τ the mean over a step and v dt
  the way of the joint in it: what drives do within a step is seen as far as that product sees it;
* the same energies plus the potential of the drives, ∫clip(kp e, ±effort)de. By the law it never rises: dampers,
  torque-speed lines and friction only take. No quadrature, so this one is exact at any step. The friction of feet may
  add energy by its law, at any step (docs/theory.md); `--friction 0` shows what is left without.

*Random*: new targets within the limits, or torques within the efforts, at 50 Hz. Counts episodes that diverged.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np
import pinocchio as pin
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

import exposim as xs

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))
from joint_gains import SETTINGS
from joint_truth import laws_of

GRAVITY = 9.81
SCENES = ("standing", "dropped", "falling over")
STEPS = (1.0, 2.0, 5.0, 10.0)  # [ms]
RANDOM_STEPS = (2.0, 5.0, 10.0)
RANDOM_ROBOTS = {"go2": "go2 25/0.5", "g1": "g1 100/5", "solo12": "solo12 8/0.1", "anymal_c": "anymal_c 40/5"}


class Ledger:
    """Energies of a simulation, and what its motors did."""

    def __init__(self, sim: xs.Simulator):
        self.sim, self.laws = sim, laws_of(sim.robot)
        self.model, self.data = sim.robot.model, sim.robot.model.createData()
        (self.ground,) = sim.surfaces
        self.work = self.gross_work = 0.0
        self.q = sim.q
        self.mass = pin.computeTotalMass(self.model)

    @property
    def energy(self) -> float:
        """Kinetic, gravitational, and of the springs of contacts and limits [J]."""
        sim = self.sim
        q, v = sim.q, sim.v
        energy = pin.computeKineticEnergy(self.model, self.data, q, v)
        energy += pin.computePotentialEnergy(self.model, self.data, q)
        for contact in sim.contacts:
            # The spring of what is in the ground is pressed whether or not it pushes: it does not while it lags behind.
            along = np.sum((contact.position - contact.anchor)[:2] ** 2) if contact.active else 0.0
            energy += 0.5 * self.ground.material.stiffness * (min(0.0, contact.position[2]) ** 2 + along)
        for limit in self.laws.limits:
            depth = max(0.0, limit.lower - q[limit.in_q], q[limit.in_q] - limit.upper)
            energy += 0.5 * limit.stiffness * depth**2
        return float(energy)

    @property
    def drives(self) -> float:
        """Potential of drives to the posture of rest: a parabola up to the effort, then straight."""
        laws = self.laws
        error = np.abs(pin.difference(self.model, self.sim.q, laws.rest))
        with np.errstate(divide="ignore", invalid="ignore"):
            bent = np.where(laws.kp > 0.0, np.minimum(error, laws.effort / laws.kp), 0.0)
        return float(np.sum(0.5 * laws.kp * bent**2 + laws.kp * bent * (error - bent)))

    def step(self, **command) -> None:
        """One step of the simulation."""
        self.sim.step(**command)
        way = pin.difference(self.model, self.q, self.sim.q)[-len(self.sim.torques) :]
        self.q = self.sim.q
        self.work += float(self.sim.torques @ way)
        self.gross_work += float(np.abs(self.sim.torques * way).sum())


class Rise:
    """Largest rise from any instant to any later one."""

    def __init__(self):
        self.lowest, self.largest = np.inf, 0.0

    def see(self, value: float) -> None:
        """The next value."""
        self.lowest = min(self.lowest, value)
        self.largest = max(self.largest, value - self.lowest)


def start_of(scene: str, robot: xs.Robot, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    q, v = robot.q0, np.zeros(robot.model.nv)
    v[6:] = 1e-3 * rng.standard_normal(len(v) - 6)  # from exact equilibrium instabilities hide
    if scene == "dropped":
        q[2] += 0.1
        q = pin.integrate(robot.model, q, np.r_[np.zeros(3), 0.05 * rng.standard_normal(3), np.zeros(len(v) - 6)])
    if scene == "falling over":
        v[:2] = rng.uniform(-1.5, 1.5, 2)
        v[3:5] = rng.choice([-1.0, 1.0], 2) * rng.uniform(2.0, 5.0, 2)
    return q, v


def energy_cell(setting: str, scene: str, dt: float, seconds: float, seed: int, friction: float) -> str:
    robot = SETTINGS[setting].make()
    sim = xs.Simulator(robot, xs.HalfSpace(material=xs.Material(friction=friction)), dt=dt, on_divergence="stop")
    sim.reset(*start_of(scene, robot, seed))
    ledger, balance, passive = Ledger(sim), Rise(), Rise()
    for _ in range(round(seconds / dt)):
        ledger.step()
        if sim.diverged:
            return f"[red]diverged at {sim.t:.2f} s"
        energy = ledger.energy
        balance.see(energy - ledger.work)
        passive.see(energy + ledger.drives)
    allowed = 1e-3 * ledger.mass * GRAVITY + 0.01 * ledger.gross_work
    shares = [rise.largest / allowed for rise in (balance, passive)]
    return " ".join(f"{'[red]' if share > 1.0 else ''}{share:.2f}{'[/]' if share > 1.0 else ''}" for share in shares)


def within_reason(name: str) -> xs.Robot:
    """The robot of a file, with the limits that its file should have."""
    robot = xs.load_robot(name)
    if name not in ("solo12", "anymal_c"):
        return robot
    model = robot.model.copy()
    lower, upper = np.array(model.lowerPositionLimit), np.array(model.upperPositionLimit)
    model.lowerPositionLimit = np.r_[lower[:7], np.maximum(lower[7:], -np.pi)]
    model.upperPositionLimit = np.r_[upper[:7], np.minimum(upper[7:], np.pi)]
    if name == "solo12":
        effort = np.r_[np.array(model.upperEffortLimit)[:6], np.full(model.nv - 6, 2.7)]
        model.upperEffortLimit, model.lowerEffortLimit = effort, -effort
    return xs.load_robot(model, contact_points=robot.contact_points).replace(q0=robot.q0)


def episode(kind: str, name: str, dt: float, seconds: float, seed: int) -> tuple[bool, float]:
    """Whether it diverged, and the largest velocity of a joint."""
    rng = np.random.default_rng(seed)
    robot = within_reason(name)
    if kind == "targets":
        gains = SETTINGS[RANDOM_ROBOTS[name]].gains
        robot = robot.replace(drives={glob: xs.Drive(*values) for glob, values in gains.items()})
    joints = [robot.joints[joint] for joint in list(robot.model.names)[2:]]
    lower, upper, effort = (np.array([getattr(j, x) for j in joints]) for x in ("lower", "upper", "effort"))
    sim = xs.Simulator(robot, xs.HalfSpace(), dt=dt, on_divergence="stop")
    sim.reset()
    fastest = 0.0
    for _ in range(round(50 * seconds)):
        command = {"tau": rng.uniform(-effort, effort)}
        if kind == "targets":
            command = {"target": rng.uniform(np.clip(lower, -np.pi, np.pi), np.clip(upper, -np.pi, np.pi))}
        sim.step(n=round(0.02 / dt), **command)
        if sim.diverged:
            return True, np.inf
        fastest = max(fastest, np.abs(sim.v[6:]).max())
    return False, fastest


def energy_table(settings, scenes, steps, seconds, seeds, friction, console: Console) -> Table:
    table = Table(title=f"{seconds:g} s: rise of either balance over what is allowed", title_justify="left")
    for column in ("", "", *(f"{dt:g} ms" for dt in steps)):
        table.add_column(column)
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("energy", total=len(settings) * len(scenes) * len(steps) * len(seeds))
        for setting in settings:
            for scene in scenes:
                for seed in seeds:
                    cells = []
                    for dt in steps:
                        cells.append(energy_cell(setting, scene, 1e-3 * dt, seconds, seed, friction))
                        progress.advance(task)
                    table.add_row(setting, scene, *cells)
    return table


def random_table(robots, steps, seconds, seeds, console: Console) -> Table:
    table = Table(
        title=f"{len(seeds)} episodes of {seconds:g} s: diverged (fastest joint \\[rad/s])", title_justify="left"
    )
    for column in ("", "random", *(f"{dt:g} ms" for dt in steps)):
        table.add_column(column)
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("random", total=2 * len(robots) * len(steps) * len(seeds))
        for name in robots:
            for kind in ("targets", "torques"):
                cells = []
                for dt in steps:
                    ends = []
                    for seed in seeds:
                        ends.append(episode(kind, name, 1e-3 * dt, seconds, seed))
                        progress.advance(task)
                    diverged = sum(end[0] for end in ends)
                    fastest = max((end[1] for end in ends if not end[0]), default=np.inf)
                    cells.append(f"{'[red]' if diverged else ''}{diverged}{'[/]' if diverged else ''} ({fastest:.0f})")
                table.add_row(name, kind, *cells)
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", default=["energy", "random"], help="energy, random")
    parser.add_argument("--settings", nargs="+", choices=tuple(SETTINGS), default=list(SETTINGS))
    parser.add_argument("--scenes", nargs="+", default=list(SCENES))
    parser.add_argument("--robots", nargs="+", default=list(RANDOM_ROBOTS))
    parser.add_argument("--steps", nargs="+", type=float, help="[ms]")
    parser.add_argument("--seconds", type=float, help="5 for energy, 20 for random by default")
    parser.add_argument("--seeds", type=int, default=1, help="of each run of the energy")
    parser.add_argument("--friction", type=float, default=1.0, help="of the ground in runs of the energy")
    parser.add_argument("--episodes", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="one robot, one second")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.settings, arguments.robots, arguments.scenes = ["go2 100/5"], ["go2"], ["dropped"]
        arguments.steps, arguments.seconds, arguments.episodes = [5.0], 1.0, 1

    warnings.simplefilter("ignore")
    console, first = Console(width=120), arguments.first_seed
    if "energy" in arguments.what:
        seeds = range(first, first + arguments.seeds)
        steps, seconds = arguments.steps or STEPS, arguments.seconds or 5.0
        console.print(
            energy_table(arguments.settings, arguments.scenes, steps, seconds, seeds, arguments.friction, console)
        )
    if "random" in arguments.what:
        seeds = range(first, first + arguments.episodes)
        steps, seconds = arguments.steps or RANDOM_STEPS, arguments.seconds or 20.0
        console.print(random_table(arguments.robots, steps, seconds, seeds, console))


if __name__ == "__main__":
    main()
