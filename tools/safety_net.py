"""Before walls of the core are moved: `record net.npz`. After every move: `compare net.npz`.

Single steps of every scheme from states of motions in which contacts land, slip, stick and lift, to be the same to
1e-12, or, where rounding is amplified, no further apart than the last digits of the state move them.
"""

import sys
from collections.abc import Iterator

import numpy as np
import pinocchio as pin

import exposim as xs
from exposim.simulation.integrators import SCHEMES

SAME = 1e-12
SCHEMES_AND_VARIANTS = [*(kind() for kind in SCHEMES.values()), xs.Expo(order=1), xs.PaperExpo(anchor="detected")]
EXPLICIT = (xs.ExplicitEuler, xs.SemiImplicitEuler, xs.RungeKutta4)
MOTIONS = {  # robot: gains, armature
    "solo12": (5.0, 0.05, None),
    "go2": (60.0, 1.2, None),
    "anymal_c": (300.0, 6.0, None),
    "romeo": (300.0, 5.0, 0.1),
    "g1": (300.0, 5.0, 0.1),
}


def motions() -> Iterator[tuple[str, xs.Robot, xs.HalfSpace, np.ndarray, np.ndarray]]:
    """Name, robot, ground, packed states and torques of robots that are dropped while they slide."""
    for name, (kp, kd, armature) in MOTIONS.items():
        robot = xs.load_robot(name)
        robot = robot if armature is None else robot.replace(armature=armature)
        ground = xs.HalfSpace(xs.Material(friction=0.5), normal=(0.1, 0.0, 1.0))
        controller = xs.controllers.PD(robot, kp, kd)
        sim = xs.Simulator(robot, ground, dt=2e-3)
        q = robot.q0
        q[2] += 0.08
        sim.reset(q, np.r_[0.5, 0.2, np.zeros(robot.nv - 2)])
        states, torques = [], []
        for _ in range(150):
            states.append(sim.state.to_array())
            torques.append(controller(sim.t, sim.state))
            sim.step(torques[-1])
        yield name, robot, ground, np.array(states[::3]), np.array(torques[::3])


def after(sim: xs.Simulator, states: np.ndarray, torques: np.ndarray) -> np.ndarray:
    """States one step on."""
    ends = []
    for x, tau in zip(states, torques, strict=True):
        sim.state = xs.State.from_array(x)
        sim.step(tau)
        ends.append(sim.state.to_array())
    return np.array(ends)


def record(path: str) -> None:
    """Writes the states that steps start from, and where they lead."""
    net = {}
    for name, robot, ground, states, torques in motions():
        net |= {f"{name}/states": states, f"{name}/torques": torques}
        for scheme in SCHEMES_AND_VARIANTS:
            dt = 1e-4 if isinstance(scheme, EXPLICIT) else 2e-3
            net[f"{name}/{scheme!r}"] = after(xs.Simulator(robot, ground, scheme, dt), states, torques)
    np.savez_compressed(path, **net)
    print(f"{sum(len(each) for key, each in net.items() if '(' in key)} steps in {path}")


def compare(path: str) -> int:
    """How many steps lead elsewhere, and are not explained by the last digits."""
    net, unexplained = np.load(path), 0
    rng = np.random.default_rng(0)
    for name, robot, ground, _, _ in motions():
        states, torques = net[f"{name}/states"], net[f"{name}/torques"]
        for scheme in SCHEMES_AND_VARIANTS:
            dt = 1e-4 if isinstance(scheme, EXPLICIT) else 2e-3
            sim = xs.Simulator(robot, ground, scheme, dt)
            recorded, found = net[f"{name}/{scheme!r}"], after(sim, states, torques)
            off = np.array([distance(robot, a, b) for a, b in zip(recorded, found, strict=True)])
            for k in np.flatnonzero(off > SAME):
                digits = [last_digits(states[k], rng) for _ in range(8)]
                spread = max(distance(robot, found[k], each) for each in after(sim, digits, [torques[k]] * 8))
                unexplained += off[k] > spread
            print(
                f"{name:10} {scheme.name:20} largest {off.max():.1e}, {np.sum(off > SAME)} of {len(off)} above {SAME:g}"
            )
    print(f"{unexplained} steps are further off than the last digits of their states explain")
    return unexplained


def distance(robot: xs.Robot, one: np.ndarray, other: np.ndarray) -> float:
    """Of two packed states, in q and v, relative to the largest velocity."""
    a, b = xs.State.from_array(one), xs.State.from_array(other)
    moved = np.abs(pin.difference(robot.model, a.q, b.q)).max()
    return float(max(moved, np.abs(a.v - b.v).max() / max(1.0, np.abs(a.v).max())))


def last_digits(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The packed state with positions and velocities off by a last digit."""
    state = xs.State.from_array(x)
    q = state.q + rng.choice([-1, 1], state.q.shape) * np.spacing(np.maximum(np.abs(state.q), 0.1))
    v = state.v + rng.choice([-1, 1], state.v.shape) * np.spacing(np.maximum(np.abs(state.v), 0.1))
    return state.replace(q=q, v=v).to_array()


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("record", "compare"):
        sys.exit(f"usage: python {sys.argv[0]} record|compare net.npz")
    if sys.argv[1] == "record":
        record(sys.argv[2])
    else:
        sys.exit(min(1, compare(sys.argv[2])))
