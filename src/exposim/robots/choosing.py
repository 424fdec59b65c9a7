"""How contact points are chosen from the shapes of links."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

import numpy as np
import pinocchio as pin

from exposim._checks import Array
from exposim.errors import ExposimError, InvalidArgument, UnknownFrame, did_you_mean
from exposim.robots.auto_points import AutoPoints
from exposim.robots.collision_shapes import Found
from exposim.robots.contact_points import ContactPoint
from exposim.robots.hulls import Hull, hull_of
from exposim.robots.reach import directions, furthest_first, reach_of
from exposim.robots.solids import LeftOut, Solid, by_link, in_words

# Points that add less reach than this to those already chosen are not worth having [m].
FINEST = 1e-3
# Two points of a link that are closer are one; a point deeper in another shape of its body touches nothing [m].
CLOSEST = 2e-3
# Points along an edge or axis are wanted at such distances, where no reach is gained by them [m].
SPACING = 0.1
# What is so little above the lowest point of a standing robot is what it stands on [m].
SOLE = 0.01


@dataclass
class Chosen:
    """What was chosen.

    Args:
        points: In the order of the links.
        left_out: What has no points, or fewer than it could have.
        found: Link by link.
    """

    points: list[ContactPoint] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    found: list[Found] = field(default_factory=list)


@dataclass
class _Body:
    """All links that one joint carries, with the balls that can stand for them, in the frame of the joint.

    Args:
        joint: That carries it.
        names: Of the link of every ball.
        centres: Of the balls [m], (n, 3).
        radii: Of the balls [m], (n,).
        reach: Of the shapes themselves, by direction [m], (nd,).
        order: Balls in the order in which they are taken, and how much is missed without each [m].
    """

    joint: int
    names: list[str]
    centres: Array
    radii: Array
    reach: Array
    order: list[tuple[int, float]] = field(default_factory=list)


def choose_points(model: pin.Model, q: Array, solids: Sequence[Solid], wanted: AutoPoints) -> Chosen:
    """Chooses points, for a robot that stands at q.

    Raises:
        UnknownFrame: If a name or glob of the links matches none.
        InvalidArgument: If nothing is left to touch with.
    """
    chosen = Chosen()
    grouped = by_link(solids)
    names = _wanted_links(wanted.links, list(grouped))
    frames = {frame.name: frame for frame in model.frames if frame.type == pin.FrameType.BODY}
    hulls: dict[int, dict[str, list[Hull]]] = {}
    for name in (name for name in grouped if name in names):
        frame = frames.get(name)
        if frame is None or frame.parentJoint == 0:
            why = "the model has no such link" if frame is None else "it is fixed to the world"
            chosen.left_out.append(LeftOut(name, in_words(grouped[name]), why, True))
        elif read := _hulls_of(grouped[name], frame.placement, chosen):
            hulls.setdefault(int(frame.parentJoint), {})[name] = read
    if not hulls:
        told = "; ".join(f"{each.link}: {each.what}: {each.why}" for each in chosen.left_out[:3])
        raise InvalidArgument(
            f"contact_points is 'auto', but no collision geometry was found that moves{f' ({told})' if told else ''}; "
            f"give exposim.ContactPoint objects, or () for none"
        )
    bodies = [_body(joint, of_joint) for joint, of_joint in hulls.items()]
    _order(model, q, bodies, wanted.per_link)
    kept = _thinned(bodies, wanted.total)
    offsets: dict[str, list[tuple[Array, float]]] = {name: [] for of_joint in hulls.values() for name in of_joint}
    for body, keep in zip(bodies, kept, strict=True):
        for at in keep:
            offset = frames[body.names[at]].placement.actInv(body.centres[at])
            offsets[body.names[at]].append((offset, float(body.radii[at])))
        missed = body.reach - (reach_of(body.centres[keep], body.radii[keep], directions()) if keep else np.inf)
        counts = Counter(body.names[at] for at, _ in body.order)
        for name in hulls[body.joint]:
            chosen.found.append(Found(name, counts[name], max(0.0, float(missed.max()))))
            if not counts[name]:
                why = "they are within other shapes of the same body, or add nothing to their points"
                chosen.left_out.append(LeftOut(name, "points", why, True))
    if lost := sum(len(body.order) for body in bodies) - sum(map(len, kept)):
        why = f"no more than {wanted.total} in all, and those add least"
        chosen.left_out.append(LeftOut("", f"{lost} points", why, True))
    chosen.points = [
        ContactPoint(name, tuple(offset), f"{name}_{i}", radius)
        for name in grouped
        for i, (offset, radius) in enumerate(offsets.get(name, ()))
    ]
    return chosen


def _wanted_links(globs: Sequence[str], names: Sequence[str]) -> set[str]:
    found = set()
    for glob in globs:
        matching = [name for name in names if fnmatchcase(name, glob)]
        if not matching and names:
            near = did_you_mean(glob, names) or f"; those are {', '.join(names)}"
            raise UnknownFrame(f"links has {glob!r}, which is no link with collision geometry{near}")
        found.update(matching)
    return found


def _hulls_of(solids: Sequence[Solid], placement: pin.SE3, chosen: Chosen) -> list[Hull]:
    """In the frame of the joint."""
    hulls = []
    for solid in solids:
        try:
            hulls.append(hull_of(solid, placement))
        except ExposimError as error:
            chosen.left_out.append(LeftOut(solid.link, solid.kind, str(error), True))
    return hulls


def _body(joint: int, links: Mapping[str, Sequence[Hull]]) -> _Body:
    """Without balls that are within another shape, or where another one is."""
    hulls = [hull for each in links.values() for hull in each]
    names = [name for name, each in links.items() for hull in each for _ in hull.radii]
    centres, radii = np.concatenate([hull.centres for hull in hulls]), np.concatenate([hull.radii for hull in hulls])
    owner = np.repeat(np.arange(len(hulls)), [len(hull.radii) for hull in hulls])
    keep = np.ones(len(radii), dtype=bool)
    of_balls = centres @ directions().T + radii[:, None]
    for which, hull in enumerate(hulls):
        keep &= (owner == which) | ((of_balls - hull.reach).max(axis=1) >= -CLOSEST)
    for i in np.flatnonzero(keep).tolist():
        apart = np.linalg.norm(centres[:i] - centres[i], axis=1) + np.abs(radii[:i] - radii[i])
        keep[i] = not np.any(keep[:i] & (apart < CLOSEST))
    reach = np.max([hull.reach for hull in hulls], axis=0)
    return _Body(
        joint, [name for name, kept in zip(names, keep, strict=True) if kept], centres[keep], radii[keep], reach
    )


def _order(model: pin.Model, q: Array, bodies: Sequence[_Body], per_link: int) -> None:
    """What the robot stands on first, then what reaches furthest beyond the others, then what fills gaps."""
    data = model.createData()
    pin.forwardKinematics(model, data, q)
    placements = [data.oMi[body.joint] for body in bodies]
    heights = [
        (body.centres @ M.rotation.T + M.translation)[:, 2] - body.radii
        for body, M in zip(bodies, placements, strict=True)
    ]
    lowest = min(float(each.min()) for each in heights)
    for body, M, height in zip(bodies, placements, heights, strict=True):
        soles = np.flatnonzero(height < lowest + SOLE)
        first = [int(soles[i]) for i in _corners((body.centres[soles] @ M.rotation.T)[:, :2], height[soles])]
        of_points = directions() @ body.centres.T + body.radii
        free = {name: per_link for name in body.names}

        def may_be_taken(at: int, body: _Body = body, free: dict[str, int] = free) -> bool:
            free[body.names[at]] -= 1
            return free[body.names[at]] >= 0

        body.order = furthest_first(of_points, body.reach, first, may_be_taken, FINEST)
        while body.order:
            taken = body.centres[[at for at, _ in body.order]]
            gaps = np.linalg.norm(body.centres[:, None] - taken[None], axis=2).min(axis=1)
            gaps[[free[name] <= 0 for name in body.names]] = 0.0
            at = int(gaps.argmax())
            if gaps[at] < SPACING or not may_be_taken(at):
                break
            body.order.append((at, min(body.order[-1][1], 0.25 * float(gaps[at]))))


def _corners(p: Array, height: Array) -> list[int]:
    """Of points (n, 2) that are about level: the furthest ahead and behind, left and right; the lowest, if lower."""
    if not len(p):
        return []
    outwards = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    extent = np.maximum(np.ptp(p, axis=0), 1e-9)
    # A point that is higher by a millimetre must be further out by five to be taken for a corner.
    score = outwards @ (p / extent).T * extent.max() - 5.0 * height
    corners = list(dict.fromkeys(score.argmax(axis=1).tolist()))
    lowest = int(height.argmin())
    return corners if height[corners].min() < height[lowest] + FINEST else [lowest, *corners]


def _thinned(bodies: Sequence[_Body], total: int) -> list[list[int]]:
    """Of every body those that are kept; of equal gains all or none, for what is mirrored to stay so."""
    gains = sorted((gain for body in bodies for _, gain in body.order), reverse=True)
    least = gains[total] * (1.0 + 1e-2) if len(gains) > total and np.isfinite(gains[total]) else -1.0
    kept = [[at for at, gain in body.order if gain > least] for body in bodies]
    rest = total
    for keep in kept:  # only soles of more points than are allowed come to this
        del keep[rest:]
        rest -= len(keep)
    return kept
