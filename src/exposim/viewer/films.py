"""Recorded motions as films."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import BinaryIO

import av
import numpy as np
from PIL import Image as Pictures

from exposim import _checks
from exposim._checks import Array
from exposim._writing import make_parents, writing
from exposim.contact.surfaces import Surface
from exposim.errors import InvalidArgument
from exposim.robots.robot import Robot
from exposim.simulation.trajectory import Trajectory, as_trajectory
from exposim.viewer.camera import Camera
from exposim.viewer.pictures import Image, Renderer, picture_size

# Of H.264: lower is better and larger; 18 looks like the original.
QUALITY = "20"
HUNDREDTHS = 100.0  # of a second, in which GIF files count


def video(
    trajectory: Trajectory | str | PathLike[str],
    path: str | PathLike[str],
    fps: float = 30.0,
    width: int = 640,
    height: int = 480,
    *,
    speed: float = 1.0,
    camera: Camera | None = None,
    robot: Robot | None = None,
    ground: Surface | Iterable[Surface] | None = None,
    forces: bool = True,
) -> Path:
    """Writes a film of a recorded motion, without a browser or a display.

    Args:
        trajectory: What is shown, or its file.
        path: Of the file, ending in ``.mp4`` (H.264) or ``.gif``; folders are made as needed.
        fps: Pictures per second of the film; of a ``.gif`` at most 50.
        width: Of the pictures [pixels]; of an ``.mp4`` an even number.
        height: Of the pictures [pixels]; likewise.
        speed: Of the motion in the film: 0.1 is ten times slower.
        camera: From where; by default one that shows all that moves and goes along with it.
        robot: That is drawn; by default loaded again from the file that the settings name.
        ground: One surface or several; by default those of the settings, which has none that were written in Python.
        forces: Whether to draw contact points and forces.

    Returns:
        The path.

    Raises:
        InvalidArgument: If the ending is another one, or an option is not possible with it.
        UnwritableFile: If the system refuses.
    """
    target = Path(path)
    kind = target.suffix.lower()
    if kind not in (".mp4", ".gif"):
        raise InvalidArgument(f"path is {target}; give a name that ends in .mp4 or .gif")
    fps, speed = _checks.number("fps", fps, "[1/s]", above=0.0), _checks.number("speed", speed, "[-]", above=0.0)
    if kind == ".gif" and fps > HUNDREDTHS / 2.0:
        raise InvalidArgument(f"fps is {fps:g}; browsers play a .gif at 50 at most: give less, or write an .mp4")
    width, height = picture_size(width, height)
    if kind == ".mp4" and (width % 2 or height % 2):
        raise InvalidArgument(f"width and height are {width} and {height}; give even numbers for an .mp4")
    trajectory = as_trajectory(trajectory)
    taken = Renderer(trajectory, width, height, camera=camera, robot=robot, ground=ground, forces=forces)
    pictures = (taken.image(float(t)) for t in _times(trajectory.t, fps, speed))
    make_parents(target)
    with writing(target) as stream:
        if kind == ".mp4":
            _write_mp4(stream, pictures, fps, (width, height))
        else:
            _write_gif(stream, pictures, fps)
    return target


def _times(t: Array, fps: float, speed: float) -> Array:
    """Of the pictures [s], from the first instant on."""
    count = int(np.floor((t[-1] - t[0]) * fps / speed + 1e-9)) + 1
    times: Array = np.minimum(t[0] + np.arange(count) * (speed / fps), t[-1])
    return times


def _write_mp4(stream: BinaryIO, pictures: Iterator[Image], fps: float, size: tuple[int, int]) -> None:
    with av.open(stream, "w", format="mp4") as container:
        film = container.add_stream("libx264", rate=Fraction(fps).limit_denominator(1000))
        film.width, film.height = size
        film.pix_fmt, film.options = "yuv420p", {"crf": QUALITY}
        for picture in pictures:
            container.mux(film.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(film.encode())


def _write_gif(stream: BinaryIO, pictures: Iterator[Image], fps: float) -> None:
    frames = [Pictures.fromarray(each).quantize(256, dither=Pictures.Dither.NONE) for each in pictures]
    # Rounded so that they add up.
    ends = np.round(HUNDREDTHS * np.arange(len(frames) + 1) / fps).astype(int)
    lasting = (10 * np.diff(ends)).tolist()
    frames[0].save(stream, "GIF", save_all=True, append_images=frames[1:], duration=lasting, loop=0)
