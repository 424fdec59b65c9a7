"""What a world costs: python benchmarks/world.py [--rounds 20] [--save now.json]."""

import argparse
import json
import os
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np

import exposim as xs
from exposim import _bench

POINTS = 2000
WHAT = ("query", "distance")
OCTAHEDRON = """v 1 0 0\nv 0 1 0\nv 0 0 1\nv -1 0 0\nv 0 -1 0\nv 0 0 -1
f 1 2 3\nf 2 4 3\nf 4 5 3\nf 5 1 3\nf 2 1 6\nf 4 2 6\nf 5 4 6\nf 1 5 6\n"""
NEAR = 0.01  # [m] above or below the ground
BOXES = (0, 10, 100, 1000)  # beside the plane
CLOSE = 8  # of them within reach of the feet, in the rows that say so
STEPS = 20  # timed at once
DT = 2e-3


def surfaces(mesh: Path) -> dict[str, tuple[xs.Surface, np.ndarray]]:
    """Every kind, with places (n, 3) close to which it is asked."""
    rng = np.random.default_rng(0)
    flat = np.column_stack([rng.uniform(-1.0, 1.0, (POINTS, 2)), np.zeros(POINTS)])
    u = rng.standard_normal((POINTS, 3))
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    turn = {"position": (0.1, 0.2, 0.3), "rotation": (0.5, 0.5, 0.5, 0.5)}
    found = {
        "half-space": (xs.HalfSpace(), flat),
        "box": (xs.Box((1.0, 1.0, 1.0), **turn), u),
        "rounded box": (xs.Box((1.0, 1.0, 1.0), rounding=0.1, **turn), u),
        "sphere": (xs.Sphere(0.5), u),
        "capsule": (xs.Capsule(0.3, 0.5, **turn), u),
        "cylinder": (xs.Cylinder(0.3, 0.5, **turn), u),
        "level height field": (xs.HeightField(np.zeros((81, 81)), 0.05, (-2.0, -2.0)), flat),
        "rough height field": (xs.terrain.rough(4.0, 0.05), flat),
        "stairs, 8 steps": (xs.terrain.stairs(position=(-1.0, 0.0, 0.0)), flat),
        "stairs, 800 steps": (xs.terrain.stairs(steps=800, position=(-120.0, 0.0, -48.0)), flat),
        "mesh": (xs.Mesh(mesh, scale=0.5, resolution=0.02), u),
    }
    return {name: (surface, _near(surface, places, rng)) for name, (surface, places) in found.items()}


def _near(surface, places, rng):
    """Moved to within NEAR of the surface."""
    core, p = surface._build(), np.array(places)
    for _ in range(3):  # once is enough, where the distance is that of the closest point
        p -= core.distances(p)[:, None] * core.normals(p)
    return p + rng.uniform(-NEAR, NEAR, (len(p), 1)) * core.normals(p)


def time_queries(rounds: int) -> dict[str, dict[str, float]]:
    """Nanoseconds of a query and of a distance alone, by surface."""
    result = {}
    with TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        mesh = Path(folder) / "octahedron.obj"
        mesh.write_text(OCTAHEDRON, encoding="utf-8")
        for name, (surface, points) in surfaces(mesh).items():
            core = surface._build()
            seconds = {what: _bench.time_surface(core, points, what == "query", rounds) for what in WHAT}
            result[name] = {what: 1e9 * each for what, each in seconds.items()}
    return result


def boxes(count: int, close: int) -> list[xs.Box]:
    """Spread over 100 m, but for those that stand a centimetre beside the feet of Solo12."""
    rng = np.random.default_rng(1)
    at = [(*rng.uniform(5.0, 100.0, 2), 0.0) for _ in range(count - close)]
    feet = [(x, y, 0.0) for x in (-0.19, 0.19) for y in (-0.15, 0.15)]
    beside = [(x + side * 0.08, y, 0.0) for x, y, _ in feet for side in (-1, 1)][:close]
    return [xs.Box((0.3, 0.3, 0.3), p) for p in at] + [xs.Box((0.1, 0.1, 0.1), p) for p in beside]


def standing(count: int, close: int) -> xs.Simulator:
    """Solo12 on the plane among boxes, swaying: it is driven to where it stands, and has been pushed."""
    robot = xs.load_robot("solo12")
    drives = {joint: xs.Drive(kp=20.0, kd=0.5) for joint in robot.actuated_joints}
    sim = xs.Simulator(robot.replace(drives=drives), [xs.HalfSpace(), *boxes(count, close)], dt=DT, slots=2)
    sim.reset(robot.q0, np.r_[0.05, 0.03, np.zeros(robot.nv - 2)])
    sim.step(n=20)
    return sim


def time_near(rounds: int) -> dict[str, dict[str, float]]:
    """Microseconds of a step, and of setting a state, by what is around; medians of rounds that are interleaved."""
    around = [(count, 0) for count in BOXES] + [(count, CLOSE) for count in BOXES if count > CLOSE]
    sims = {f"{count} boxes, {close} near": standing(count, close) for count, close in around}
    states = {name: sim.state for name, sim in sims.items()}
    steps: dict[str, list[float]] = {name: [] for name in sims}
    sets: dict[str, list[float]] = {name: [] for name in sims}
    for _ in range(10 * rounds):
        for name, sim in sims.items():
            start = perf_counter()
            for _ in range(STEPS):
                sim.state = states[name]
            sets[name].append((perf_counter() - start) / STEPS)
            start = perf_counter()
            sim.step(n=STEPS)
            steps[name].append((perf_counter() - start) / STEPS)
    return {
        name: {
            "step": 1e6 * median(steps[name]),
            "set state": 1e6 * median(sets[name]),
            "size of state": states[name].to_array().size,
        }
        for name in sims
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20, help="of which the fastest counts")
    parser.add_argument("--save", type=Path, help="a JSON file for the numbers")
    options = parser.parse_args()
    queries = time_queries(options.rounds)
    print(f"nanoseconds a point, within {1e3 * NEAR:g} mm of the surface, in C++:")
    for name, found in queries.items():
        print(f"  {name:20} query {found['query']:6.0f}   distance {found['distance']:6.0f}")
    near = time_near(options.rounds)
    alone = next(iter(near.values()))
    print(f"microseconds of Solo12 standing, dt {1e3 * DT:g} ms, and what is there beyond the plane, of a step:")
    for name, found in near.items():
        more = (found["step"] - alone["step"]) / found["step"]
        print(
            f"  {name:20} step {found['step']:6.1f}  {more:+6.1%}   setting a state {found['set state']:5.1f}, "
            f"{found['set state'] / alone['set state']:.2f} times that of the plane, {found['size of state']} numbers"
        )
    if options.save:
        options.save.write_text(json.dumps({"queries": queries, "near": near}, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
