"""A robot in words: which shapes its links have, where they touch, and what was left out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from exposim.contact.surfaces import Surface
from exposim.robots.collision_shapes import FileShapes, Found, shapes_of
from exposim.robots.contact_points import ContactPoint
from exposim.robots.loops import Loop
from exposim.robots.solids import LeftOut, by_link, in_words


def describe(
    heading: str,
    points: Iterable[ContactPoint],
    shapes: FileShapes | tuple[Surface, ...],
    links: Iterable[str],
    loops: Iterable[Loop] = (),
) -> str:
    """The text of ``print(robot)``: one line for every link with shapes or points, in the order given.

    Args:
        heading: First line.
        points: Where it may touch something.
        shapes: Of its links.
        links: Names of the frames, in the order of the model.
        loops: Frames that are held together.
    """
    of_file = shapes if isinstance(shapes, FileShapes) else FileShapes()
    points = tuple(points)
    is_chosen = of_file.points is not None and of_file.points == points
    at: dict[str, list[ContactPoint]] = defaultdict(list)
    for point in points:
        at[point.frame].append(point)
    kinds = {link: in_words(solids) for link, solids in by_link(of_file.solids).items()}
    if not isinstance(shapes, FileShapes):
        kinds = _kinds_of(shapes)
    found = {each.link: each for each in of_file.found} if is_chosen else {}
    rows = [
        (
            link,
            kinds.get(link, "no shape"),
            _points(at.get(link, []), found.get(link)),
            _missed(found.get(link), link in at),
        )
        for link in dict.fromkeys(links)
        if link in kinds or link in at
    ]
    widths = [max((len(row[i]) for row in rows), default=0) for i in range(3)]
    count = f"{len(points)} contact point{'' if len(points) == 1 else 's'}"
    lines = [heading, count + (", chosen from the collision geometry" if is_chosen else "")]
    lines += ["  " + "  ".join([*map(str.ljust, row, widths), row[3]]).rstrip() for row in rows]
    told = [*of_file.left_out, *shapes_of(of_file.solids)[1]]
    if of_file.points is not None and not is_chosen:
        told = [each for each in told if not each.of_points]
    return "\n".join(lines + _loops(loops) + _left_out(told))


def _kinds_of(shapes: Iterable[Surface]) -> dict[str, str]:
    kinds: dict[str, list[str]] = defaultdict(list)
    for shape in shapes:
        kinds[shape.frame or ""].append(type(shape).__name__.lower())
    return {frame: ", ".join(names) for frame, names in kinds.items()}


def _points(points: list[ContactPoint], found: Found | None) -> str:
    if not points:
        return "no points"
    of = f" of {found.count}" if found is not None and found.count > len(points) else ""
    count = f"{len(points)}{of} point{'' if len(points) == 1 and not of else 's'}"
    radii = sorted({round(1e3 * point.radius, 1) for point in points})
    return count if radii == [0.0] else f"{count}, radius {' and '.join(f'{radius:g}' for radius in radii)} mm"


def _missed(found: Found | None, has_points: bool) -> str:
    is_much = found is not None and has_points and found.missed >= 1e-3
    return f"body reaches up to {1e3 * found.missed:.0f} mm beyond" if found is not None and is_much else ""


def _loops(loops: Iterable[Loop]) -> list[str]:
    lines = [f"  {each.frame_a} at {each.frame_b}: {each.axes}, {each.stiffness:g} N/m" for each in loops]
    return ["loops", *lines] if lines else []


def _left_out(told: Iterable[LeftOut]) -> list[str]:
    by_reason: dict[tuple[str, str], list[str]] = defaultdict(list)
    for each in told:
        by_reason[each.what, each.why].append(each.link)
    lines = [
        f"  {what}{' of ' if any(links) else ''}{', '.join(dict.fromkeys(links))}: {why}"
        for (what, why), links in by_reason.items()
    ]
    return ["left out", *lines] if lines else []
