"""Meshcat without its server: what would be sent to a browser is kept and packed into one page."""

from __future__ import annotations

import base64
import gzip
import html
import json
import string
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import umsgpack
from meshcat.servers.zmqserver import VIEWER_ROOT

Command = dict[str, Any]


class RecordingWindow:
    """In the place of Meshcat's own window: keeps commands instead of sending them.

    A mesh that was drawn before is not kept again but noted as a copy, so that it is in the page once.
    """

    def __init__(self) -> None:
        self.commands: list[bytes] = []
        self.copies: list[tuple[str, str]] = []  # path of the first, path of the same again
        self._first: dict[bytes, str] = {}

    def send(self, command: Any) -> None:
        """Keeps a command of Meshcat."""
        lowered: Command = command.lower()
        if lowered["type"] == "set_object" and self._is_copy(lowered):
            return
        self.commands.append(umsgpack.packb(lowered, force_float_precision="single"))

    def _is_copy(self, lowered: Command) -> bool:
        drawn = lowered["object"]
        files = [each for each in (*drawn["geometries"], drawn["object"]) if each["type"].startswith("_meshfile")]
        for file in files:
            if file["type"] == "_meshfile":
                file["type"] = "_meshfile_geometry"  # the viewer logs a warning for the former
        if not files:  # small, and may get a colour of its own
            return False
        key = umsgpack.packb(drawn)
        for part in (drawn["object"], *drawn["geometries"], *drawn["materials"]):
            key = key.replace(part["uuid"].encode(), b"")  # all that tells two copies apart
        first = self._first.setdefault(key, lowered["path"])
        if first == lowered["path"]:
            return False
        self.copies.append((first, lowered["path"]))
        return True

    def page(self, title: str, settings: Mapping[str, Any]) -> str:
        """The HTML of a page with all that was sent; the settings are for ``replay.js``."""
        folder = Path(__file__).parent
        framed = b"".join(struct.pack("<I", len(command)) + command for command in self.commands)
        parts = {
            "title": html.escape(title),
            "style": (folder / "replay.css").read_text(encoding="utf-8"),
            "meshcat": (Path(VIEWER_ROOT) / "main.min.js").read_text(encoding="utf-8"),
            "scene": base64.b64encode(gzip.compress(framed, mtime=0)).decode("ascii"),
            "settings": json.dumps({**settings, "copies": self.copies}).replace("<", "\\u003c"),
            "script": (folder / "replay.js").read_text(encoding="utf-8"),
        }
        return string.Template((folder / "replay.html").read_text(encoding="utf-8")).substitute(parts)
