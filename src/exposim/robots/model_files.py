"""Model files as text: what is looked at before Pinocchio reads them, which trusts them."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from xml.etree import ElementTree
from xml.parsers import expat

from exposim.errors import ExposimError, ModelParseError, UnsupportedModel

# Links in a row, and elements within each other. Pinocchio's readers call themselves for each: on a stack of 8 MB they
# crash from 3,500 links of a URDF file and 6,000 bodies of MJCF on, on one of 1 MB from 450; and the time for default
# classes within each other grows with the third power (300: 0.2 s, 3,000: 36 s). Robots have less than fifty.
DEEPEST = 300


def parse(path: Path, root_tag: str, kind: str) -> ElementTree.Element:
    """The root of a model file.

    Raises:
        ModelParseError: If it is no XML, or something else.
        UnsupportedModel: If it is nested deeper than Pinocchio can read.
    """
    try:
        text = path.read_bytes()
        _refuse_depth_and_entities(path, text)
        root = ElementTree.fromstring(text)
    except ExposimError:
        raise
    except OSError as error:
        raise ModelParseError(f"{path} cannot be read: {error.strerror or error}") from None
    except (ElementTree.ParseError, ValueError, LookupError) as error:  # the latter two: of its encoding
        raise ModelParseError(f"{path} is not a valid {kind} file: {error}") from None
    if root.tag != root_tag:
        raise ModelParseError(f"{path} is not a {kind} file: its root is <{root.tag}>, not <{root_tag}>")
    return root


def refuse_what_is_no_tree(path: Path, root: ElementTree.Element) -> None:
    """Of a URDF file: every link hangs on one joint at the most, and no chain of them is too long."""
    hangs_on: dict[str, str] = {}
    children: dict[str, list[str]] = defaultdict(list)
    for joint in root.iterfind("joint"):
        name, parent, child = joint.get("name", ""), _link(joint, "parent"), _link(joint, "child")
        if child in hangs_on:  # the reader would walk every way to it
            raise ModelParseError(
                f"{path} is not a valid URDF file: link {child!r} hangs on two joints, {hangs_on[child]!r} and {name!r}"
            )
        hangs_on[child] = name
        children[parent].append(child)
    links = [link for link in children if link not in hangs_on]
    for _ in range(DEEPEST):
        links = [child for link in links for child in children.get(link, ())]
        if not links:
            return
    raise UnsupportedModel(
        f"{path} has more than {DEEPEST} links in a row, down to {links[0]!r}, which is more than Pinocchio can read; "
        f"make one link of those that are fixed to each other"
    )


def root_link(root: ElementTree.Element) -> str:
    """Of a URDF file: the link that hangs on no joint."""
    hanging = {_link(joint, "child") for joint in root.iterfind("joint")}
    return next((name for link in root.iterfind("link") if (name := link.get("name", "")) not in hanging), "")


def _refuse_depth_and_entities(path: Path, text: bytes) -> None:
    """Goes through the text without building anything; what is no XML is left to who builds it."""
    depth = 0

    def start(tag: str, attributes: object) -> None:
        nonlocal depth
        depth += 1
        if depth > DEEPEST:
            raise UnsupportedModel(
                f"{path} has elements more than {DEEPEST} deep within each other, at <{tag}> in line "
                f"{reader.CurrentLineNumber}, which is deeper than Pinocchio can read"
            )

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1

    def declare(name: str, *_: object) -> None:
        raise ModelParseError(
            f"{path} declares an entity, {name!r}, which Pinocchio does not read; write its text where it is used"
        )

    reader = expat.ParserCreate()
    reader.StartElementHandler, reader.EndElementHandler, reader.EntityDeclHandler = start, end, declare
    try:
        reader.Parse(text, True)
    except ExposimError:
        raise
    except (expat.ExpatError, ValueError, LookupError):
        return


def _link(joint: ElementTree.Element, end: str) -> str:
    found = joint.find(end)
    return "" if found is None else found.get("link", "")
