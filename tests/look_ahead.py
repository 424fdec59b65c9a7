"""How a step goes on average, in one or two implicit stages in contact space, read from docs/theory.md.

Plain NumPy, never from the C++. Clarity before speed. Vectors in world axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import block_diag

from contact_space import BILATERAL, IDLE, OPEN, SLIPPING, SLOWEST_SLIDING, STICKING, Element, landing
from reference import Array

HOLDS, SLIDES, DRAGS, CLOSES, DOES_NOTHING = "holds", "slides", "drags", "closes", "does nothing"  # looking ahead


class Course(NamedTuple):
    """What the look ahead takes a contact to do: λ as in the theory's table."""

    does: str
    eta: float = 0.0  # friction as a damper, of one that slides or closes [N·s/m]
    friction: tuple[float, ...] = (0.0, 0.0, 0.0)  # of one that drags [N]
    left: float = 0.0  # of the step, of one that closes [s]


def look_ahead(Upsilon: Array, ddp_bar: Array, elements: Sequence[Element], dt: float) -> tuple[Array, bool]:
    """Mean forces of the step to come, (n, 3), and whether contacts keep their modes: one implicit stage, or two."""
    courses = [first_course(e, dt) for e in elements]
    lam = implicit_stage(Upsilon, ddp_bar, elements, courses, dt)
    ddp = (ddp_bar + Upsilon @ lam.ravel()).reshape(-1, 3)
    found = [second_course(*each, dt) for each in zip(elements, courses, lam, ddp, strict=True)]
    keeps = all(
        course.does == (DOES_NOTHING if e.mode == OPEN else HOLDS) for e, course in zip(elements, found, strict=True)
    ) and not any(e.mode == IDLE for e in elements)
    return (lam if found == courses else implicit_stage(Upsilon, ddp_bar, elements, found, dt)), keeps


def first_course(e: Element, dt: float) -> Course:
    gap_rate = e.normal @ e.velocity
    if e.mode in (STICKING, BILATERAL):
        return Course(HOLDS)
    if e.mode == SLIPPING:
        push = -e.material.stiffness[0] * (e.gap - e.gap0) - e.material.damping[0] * gap_rate
        return Course(SLIDES, eta=friction_as_damper(e, push))
    if e.mode == OPEN and e.gap + gap_rate * dt <= 0.0:
        return Course(CLOSES, left=dt + e.gap / gap_rate)
    return Course(DOES_NOTHING)


def second_course(e: Element, before: Course, lam: Array, ddp: Array, dt: float) -> Course:
    """By the force and the acceleration that the first stage found."""
    lam_n, lam_t = e.normal @ lam, e.tangential(lam)
    if before.does == DOES_NOTHING:
        closes_at = landing(e.gap, e.normal @ e.velocity, e.normal @ ddp, dt) if e.mode == OPEN else None
        return before if closes_at is None else Course(CLOSES, left=dt - closes_at)
    if e.mode == BILATERAL:
        return before
    if lam_n <= 0.0:
        return Course(DOES_NOTHING)
    if before.does == HOLDS:
        tangential, most = np.linalg.norm(lam_t), e.material.friction * lam_n
        return before if tangential <= most else Course(DRAGS, friction=tuple(most / tangential * lam_t))
    return before._replace(eta=friction_as_damper(e, lam_n))


def friction_as_damper(e: Element, lam_n: float) -> float:
    speed = np.linalg.norm(e.tangential(e.velocity))
    return e.material.friction * lam_n / speed if speed > SLOWEST_SLIDING else 0.0


def implicit_stage(
    Upsilon: Array, ddp_bar: Array, elements: Sequence[Element], courses: Sequence[Course], dt: float
) -> Array:
    """λ, (n, 3), where that of each contact is at_rest − W Υλ."""
    if not elements:
        return np.zeros((0, 3))
    each = zip(elements, courses, ddp_bar.reshape(-1, 3), strict=True)
    at_rest, W = zip(*(response(e, course, free, dt) for e, course, free in each), strict=True)
    matrix = np.eye(len(ddp_bar)) + block_diag(*W) @ Upsilon
    return np.linalg.solve(matrix, np.concatenate(at_rest)).reshape(-1, 3)


def response(e: Element, course: Course, ddp_bar: Array, dt: float) -> tuple[Array, Array]:
    """A contact's force if Υλ = 0, (3,), and how it falls with Υλ, (3, 3)."""
    half, n, dp = dt / 2, e.normal, e.velocity
    (K_n, _), (B_n, _) = e.material.stiffness, e.material.damping
    if course.does == DOES_NOTHING:
        return np.zeros(3), np.zeros((3, 3))
    W = half**2 * e.K + half * e.B
    delta_p = (e.gap - e.gap0) * n + e.tangential(np.asarray(e.stretch, float))
    holding = -e.K @ (delta_p + half * dp) - e.B @ dp - W @ ddp_bar
    if course.does == HOLDS:
        return holding, W
    across = np.eye(3) - np.outer(n, n)
    along, w = n @ holding, n @ W @ n
    if course.does == CLOSES:
        rho = course.left / 2
        along = -((course.left / dt) ** 2) * (B_n + rho * K_n) * (n @ (dp + rho * ddp_bar))
        w = rho * (B_n + rho * K_n)
    friction = np.array(course.friction) - course.eta * across @ (dp + half * ddp_bar)
    return along * n + friction, w * np.outer(n, n) + course.eta * half * across
