"""What happened to contacts and limits within steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from exposim._checks import Array
from exposim.simulation.joint_names import names_of

if TYPE_CHECKING:
    from exposim.robots.robot import Robot

EventKind = Literal["land", "lift", "slip", "stick", "limit", "release"]
KINDS: tuple[EventKind, ...] = get_args(EventKind)  # in the order of the core
OF_JOINTS: tuple[EventKind, ...] = ("limit", "release")


@dataclass(frozen=True, eq=False)
class Event:
    """A contact landed, lifted, began or stopped to slip, or a joint came to its limit or left it.

    Of every contact landings and liftings alternate, and between these slips and sticks: a landing sticks, and one that
    slips at once is two events at the same time. Of every limit ``"limit"`` and ``"release"`` alternate. At the end of
    every step they agree with ``sim.active``, and where a contact pushes with ``sim.slipping``: one that loses its
    force before it lifts does not slip by that.

    Args:
        t: When [s].
        contact: Name of the contact point, with the number of the surface or slot where it has several; of a limit, of
            the joint.
        kind: What.
        velocity: Of the point past the surface just before [m/s], (3,); of a joint its own, in the first entry.
        force: On the robot just after, in the world [N], (3,); of a joint's limit the torque, in the first entry.
        index: Of the contact in ``sim.contacts``; of a limit, of the degree of freedom in v.
    """

    t: float
    contact: str
    kind: EventKind
    velocity: Array
    force: Array
    index: int

    @property
    def is_contact(self) -> bool:
        """Whether it is of a contact, and not of a limit."""
        return self.kind not in OF_JOINTS


def events_of(table: Array, labels: Sequence[str], robot: Robot) -> tuple[Event, ...]:
    """As users know them.

    Args:
        table: Of the core, a row for each: time, index, number of the kind, velocity, force.
        labels: Of the contacts.
        robot: Whose joints have limits.
    """
    found = []
    for row in table:
        index, kind = int(row[1]), KINDS[int(row[2])]
        name = names_of(robot, [index])[0] if kind in OF_JOINTS else labels[index]
        found.append(Event(float(row[0]), name, kind, row[3:6], row[6:9], index))
    return tuple(found)


def contact_labels(names: Sequence[str], surfaces: Sequence[int | None]) -> tuple[str, ...]:
    """Names of contacts; where a point has several, with the number of the surface, or of a slot.

    Args:
        names: Of the points of every contact.
        surfaces: That it belongs to for good, if it does.
    """
    labels = []
    for i, (name, surface) in enumerate(zip(names, surfaces, strict=True)):
        which = f"#{names[:i].count(name)}" if surface is None else f"@{surface}"
        labels.append(name if names.count(name) == 1 else name + which)
    return tuple(labels)
