"""Derivatives of a robot's strands and drives followed through a step, beside differences of what the core resolves."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

import exposim as xs
from exposim import _bench, _core
from exposim.contact.modes import BILATERAL, IDLE, OPEN, SLIPPING, STICKING

DT, HOW = 4e-3, (2, 1e-4)
OUTPUTS = ("lam_bar", "lam_bar2", "displacement", "velocity", "stretch", "drives")
LEGS = np.arange(6, 18)  # degrees of freedom of the joints; in q one further
UP, ALONG = np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0])


@dataclass
class Problem:
    """A solo12 in the air with made-up contacts: what its strands feel of each other is what counts."""

    sim: object
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray
    kinds: list
    places: list
    positions: np.ndarray
    normals: np.ndarray
    modes: list
    materials: np.ndarray
    delta: np.ndarray
    dp: np.ndarray
    drives: np.ndarray  # dof, force, K, D, X, fitted, v

    def run(self, tangent=None):
        followed = _bench.StrandsAndDrives(
            self.kinds,
            self.places,
            self.positions,
            self.materials,
            self.normals,
            self.delta,
            self.dp,
            self.modes,
            self.drives,
        )
        return _bench.resolve_robot(self.sim._core, self.q, self.v, self.tau, followed, DT, *HOW, tangent)

    def moved(self, direction, by):
        return replace(self, **{name: getattr(self, name) + by * change for name, change in direction.items()})


def random_problem(seed, strands, drives):
    """@param strands: pairs of kind and joint, or degree of freedom."""
    rng = np.random.default_rng(seed)
    sim = xs.Simulator(xs.load_robot("solo12"), xs.HalfSpace())
    q = sim.state.q.copy()
    q[7:] += 0.3 * rng.normal(size=12)
    count = len(strands)
    kinds, places = [kind for kind, _ in strands], [place for _, place in strands]
    materials = np.tile([3e4, 2e4, 100.0, 60.0, 0.5], (count, 1))
    normals, delta, dp = np.tile(UP, (count, 1)), np.zeros((count, 3)), 0.15 * rng.normal(size=(count, 3))
    modes = []
    for k, kind in enumerate(kinds):
        if kind in ("contact", "limit"):
            normals[k] = ALONG if kind == "limit" else UP
            if kind == "limit":
                materials[k] = [100.0, 0.0, 0.5, 0.0, 0.0]
                dp[k, 1:] = 0.0
            dp[k] += normals[k] * (-0.25 * abs(rng.normal()) - normals[k] @ dp[k])
            gap = rng.choice([2e-4, -2e-4])
            delta[k] = gap * normals[k]
            push = -materials[k, 0] * gap - materials[k, 2] * normals[k] @ dp[k]
            slide = materials[k, 3] * np.linalg.norm(dp[k] - normals[k] * (normals[k] @ dp[k]))
            held = STICKING if slide <= materials[k, 4] * push or kind == "limit" else SLIPPING
            modes.append(OPEN if gap > 0.0 else held if push > 0.0 else IDLE)
        else:
            modes.append(BILATERAL)
            if kind == "servo":
                normals[k] = ALONG
                materials[k] = [200.0, 0.0, 3.0, 0.0, 1.0]
                dp[k, 1:] = 0.0
            else:
                delta[k] = 1e-4 * rng.normal(size=3)
    rows = [
        [dof, rng.normal(), 20.0 * rng.uniform(), 0.3 * rng.uniform(), 0.01 * rng.uniform(), rng.normal(), v]
        for dof, v in zip(drives, rng.normal(size=len(drives)), strict=True)
    ]
    return Problem(
        sim,
        q,
        0.5 * rng.normal(size=18),
        rng.normal(size=18),
        kinds,
        places,
        0.1 * rng.normal(size=(count, 3)),
        normals,
        modes,
        materials,
        delta,
        dp,
        np.array(rows).reshape(-1, 7),
    )


def random_direction(seed, problem):
    rng = np.random.default_rng(seed)
    direction = {
        "q": np.r_[np.zeros(7), rng.normal(size=12)],
        "tau": rng.normal(size=18),
        "materials": 0.1 * problem.materials * rng.normal(size=problem.materials.shape),
        "delta": 1e-4 * rng.normal(size=problem.delta.shape),
        "dp": 0.1 * rng.normal(size=problem.dp.shape),
        "drives": 0.1 * problem.drives * rng.normal(size=problem.drives.shape),
    }
    direction["drives"][:, 0] = 0.0
    for k, (kind, mode) in enumerate(zip(problem.kinds, problem.modes, strict=True)):
        n = problem.normals[k]
        if mode in (OPEN, IDLE) or kind == "limit":
            direction["delta"][k] = n * (n @ direction["delta"][k])
        if kind in ("limit", "servo"):
            direction["dp"][k, 1:] = 0.0
        if kind == "servo":
            direction["delta"][k, 1:] = 0.0
    return direction


def central(problem, direction, by, names):
    before, after = (problem.moved(direction, sign * by).run() for sign in (-1.0, 1.0))
    return before, after, {name: (after[name] - before[name]) / (2.0 * by) for name in names}


def tangent_of(problem, directions):
    """Of Υ and p̈̄ by differences, in which nothing is decided; they change with the X of drives as well."""
    along = [{"q": np.eye(19)[dof + 1]} for dof in LEGS]
    for k in range(len(problem.drives)):
        along.append({"drives": np.zeros_like(problem.drives)})
        along[-1]["drives"][k, 4] = 1.0
    steps = [1e-5] * len(LEGS) + [1e-7] * len(problem.drives)
    each = [central(problem, one, by, ["Upsilon"])[2]["Upsilon"] for one, by in zip(along, steps, strict=True)]
    ddp_bar = np.hstack([central(problem, d, 1e-5, ["ddp_bar"])[2]["ddp_bar"] for d in directions])

    def columns(name, part=slice(None)):
        return np.stack([np.ravel(direction[name][part]) for direction in directions], axis=1)

    return _core.SystemTangent(
        each,
        np.vstack([columns("q", slice(7, None)), columns("drives", (slice(None), 4))]),
        ddp_bar,
        columns("delta"),
        columns("dp"),
        [np.stack([d["materials"][k] for d in directions], axis=1) for k in range(len(problem.kinds))],
        [int(row[0]) for row in problem.drives],
        [np.stack([d["drives"][k, 1:] for d in directions], axis=1) for k in range(len(problem.drives))],
    )


CASES = {
    "feet": ([("contact", joint) for joint in (4, 7, 10, 13)], []),
    "two on a body": ([("contact", 4), ("contact", 4), ("contact", 7), ("bond", 4)], []),
    "limits and servos": ([("contact", 4), ("limit", 8), ("servo", 7), ("limit", 12)], []),
    "drives": ([("contact", 4), ("contact", 7), ("contact", 10)], [6, 7, 8, 10, 14]),
    "all": ([("contact", 4), ("contact", 4), ("limit", 8), ("servo", 9), ("contact", 13)], [6, 7, 16, 17]),
}


@pytest.mark.parametrize("case", CASES)
def test_derivatives_of_strands_and_drives_are_exact(case):
    compared, changed = [], 0
    for seed in range(12):
        problem = random_problem(seed, *CASES[case])
        directions = [random_direction(10 * seed + k, problem) for k in range(3)]
        found = problem.run(tangent_of(problem, directions))
        changed += found["choices"].size > 2
        if found["choices"][0, 1] > 0.0:  # grazing
            continue
        for k, direction in enumerate(directions):
            pair = [central(problem, direction, by, OUTPUTS) for by in (1e-5, 1e-6)]
            if any(not np.array_equal(found["choices"], each["choices"]) for ends in pair for each in ends[:2]):
                continue
            one, other = pair[0][2], pair[1][2]
            scales = {name: np.abs(other[name]).max(initial=0.0) + 1e-9 for name in OUTPUTS}
            apart = max(np.abs(one[name] - other[name]).max(initial=0.0) / scales[name] for name in OUTPUTS)
            off = max(np.abs(found[name][:, [k]] - other[name]).max(initial=0.0) / scales[name] for name in OUTPUTS)
            compared.append((off, apart))
    off, apart = np.array(compared).T
    assert changed >= 6
    assert len(off) >= 20
    assert (apart < 1e-6).mean() > 0.7
    assert np.all(off <= 1e-6 + 3.0 * apart)
