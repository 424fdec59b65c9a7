"""Derivatives of contacts followed through a step, beside differences of what the core resolves."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from exposim import _core
from exposim.kernels import MODES
from systems import random_contact_space

DT = 4e-3
OUTPUTS = ("lam_bar", "lam_bar2", "displacement", "velocity", "stretch")
DIRECTIONS = 7


@dataclass
class Problem:
    """Contacts in contact space, as numbers that can be moved along a direction."""

    Upsilon: np.ndarray
    ddp_bar: np.ndarray
    materials: np.ndarray  # (n, 5): K_n, K_t, B_n, B_t, mu
    normals: np.ndarray
    delta: np.ndarray  # (n, 3): displacement from the anchor
    dp: np.ndarray
    modes: tuple
    how: tuple = (2, 4e-5)
    bonds: tuple = ()

    @classmethod
    def random(cls, seed, count, stiffness=(1e5, 1e5), damping=(300.0, 300.0), friction=None, **how):
        Upsilon, ddp_bar, elements = random_contact_space(seed, count, stiffness, damping)
        materials = [(*e.material.stiffness, *e.material.damping, e.material.friction) for e in elements]
        if friction is not None:
            materials = [(*m[:4], friction) for m in materials]
        delta = np.array([e.gap * e.normal + e.stretch for e in elements])
        normals, dp = (np.array([getattr(e, name) for e in elements]) for name in ("normal", "velocity"))
        modes = tuple(MODES.index(e.mode) for e in elements)
        return cls(Upsilon, ddp_bar, np.array(materials), normals, delta, dp, modes, **how)

    def elements(self):
        for k, (n, delta, dp, mode) in enumerate(zip(self.normals, self.delta, self.dp, self.modes, strict=True)):
            K_n, K_t, B_n, B_t, mu = self.materials[k]
            material = _core.Material(K_n, K_t, B_n, B_t, mu)
            law = (_core.Bilateral if k in self.bonds else _core.CoulombContact)(material)
            phi = 0.0 if k in self.bonds else n @ delta
            yield _core.Element(law, n, phi, dp, mode, delta - phi * n, 0.0)

    def arguments(self):
        return self.Upsilon, self.ddp_bar, list(self.elements()), DT, *self.how

    def moved(self, direction, by):
        Upsilon = self.Upsilon + by * np.tensordot(direction["dq"], direction["Upsilon_by_q"], 1)
        changed = {name: getattr(self, name) + by * direction[name] for name in ("ddp_bar", "delta", "dp", "materials")}
        return replace(self, Upsilon=Upsilon, **changed)


def random_direction(rng, problem, Upsilon_by_q):
    """Changes that are felt about as much as each other."""
    n = problem.normals
    delta = 1e-4 * rng.normal(size=problem.delta.shape)
    for k, mode in enumerate(problem.modes):
        if MODES[mode] in ("open", "idle"):  # without a stretch
            delta[k] = n[k] * (n[k] @ delta[k])
    return {
        "Upsilon_by_q": Upsilon_by_q,
        "dq": rng.normal(size=len(Upsilon_by_q)),
        "ddp_bar": 10.0 * rng.normal(size=problem.ddp_bar.shape),
        "delta": delta,
        "dp": 0.1 * rng.normal(size=problem.dp.shape),
        "materials": 0.1 * problem.materials * rng.normal(size=problem.materials.shape),
    }


def random_directions(seed, problem):
    rng = np.random.default_rng(seed)
    size = len(problem.ddp_bar)
    factors = rng.normal(size=(3, size, size))
    Upsilon_by_q = 0.1 * (factors + factors.transpose(0, 2, 1))
    return [random_direction(rng, problem, Upsilon_by_q) for _ in range(DIRECTIONS)]


def tangents(problem, directions):
    def columns(name):
        return np.stack([direction[name].ravel() for direction in directions], axis=1)

    materials = columns("materials").reshape(len(problem.modes), 5, -1)
    given = _core.SystemTangent(
        list(directions[0]["Upsilon_by_q"]),
        columns("dq"),
        columns("ddp_bar"),
        columns("delta"),
        columns("dp"),
        list(materials),
    )
    return _core.resolve_tangents(*problem.arguments(), given)


def choices(found):
    return found.micro_steps, found.modes, [event[1:] for event in found.events]


def difference(problem, direction, by):
    """By central differences; None where the choices on the way are others."""
    before, after = (_core.resolve(*problem.moved(direction, sign * by).arguments()) for sign in (-1.0, 1.0))
    here = choices(_core.resolve(*problem.arguments()))
    if not choices(before) == choices(after) == here:
        return None
    return {name: (getattr(after, name) - getattr(before, name)).ravel() / (2.0 * by) for name in OUTPUTS}


def errors(problem, seed, by=1e-6):
    """Relative to the largest of each output, one to each direction."""
    directions = random_directions(seed, problem)
    found = tangents(problem, directions)
    assert found.supported
    for k, direction in enumerate(directions):
        expected = difference(problem, direction, by)
        if expected is None:
            yield found, None
            continue
        yield found, {
            name: np.abs(getattr(found, name)[:, k] - expected[name]).max() / (np.abs(expected[name]).max() + 1e-9)
            for name in OUTPUTS
        }
