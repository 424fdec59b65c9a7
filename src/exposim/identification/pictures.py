"""Small pictures for pages: lines and bars over an axis, as SVG."""

from __future__ import annotations

import html
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from exposim._checks import Array

WIDTH, HEIGHT = 860, 170  # [px] of a picture
LEFT, RIGHT, TOP, BOTTOM = 48, 12, 30, 34  # [px] around what is drawn
MOST_POINTS = 800  # of a line
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7F7F7F")
BLUE, VERMILION = COLOURS[:2]


class Frame:
    """Axes of a picture.

    Args:
        x: From where to where.
        y: Likewise.
    """

    def __init__(self, x: tuple[float, float], y: tuple[float, float]):
        self._x = x if x[1] > x[0] else (x[0], x[0] + 1.0)
        self._y = y if y[1] > y[0] else (y[0], y[0] + 1.0)

    def at_x(self, x: Array | float) -> Array:
        """Of the picture [px]."""
        low, high = self._x
        return np.asarray(LEFT + (np.asarray(x) - low) / (high - low) * (WIDTH - LEFT - RIGHT))

    def at_y(self, y: Array | float) -> Array:
        """Likewise, from above."""
        low, high = self._y
        return np.asarray(HEIGHT - BOTTOM - (np.asarray(y) - low) / (high - low) * (HEIGHT - TOP - BOTTOM))

    def drawn(self, title: str, x_name: str, content: str, legend: str = "") -> str:
        """The picture, with what is within its axes."""
        parts = [f'<text x="{LEFT}" y="14" font-weight="600">{html.escape(title)}</text>', legend]
        for value in _ticks(*self._y, 4):
            y = float(self.at_y(value))
            parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#e4e4e4"/>')
            parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{value:g}</text>')
        for value in _ticks(*self._x, 9):
            x = float(self.at_x(value))
            parts.append(f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 14}" text-anchor="middle">{value:g}</text>')
        parts.append(f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 4}" text-anchor="end">{html.escape(x_name)}</text>')
        box = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
        style = 'style="background:white;font:11px sans-serif;display:block;margin:.6em 0"'
        return f"<svg {box} {style}>{''.join(parts)}{content}</svg>"


def lines(title: str, x: Array, series: Mapping[str, Array], x_name: str, level: float) -> str:
    """Lines of one axis, and a level to hold them against."""
    every = np.concatenate([*series.values(), [level]])
    frame = Frame((float(x.min()), float(x.max())), _reach(every))
    y = float(frame.at_y(level))
    content = [
        f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#555" stroke-dasharray="4 3"/>'
    ]
    legend, right = [], WIDTH - RIGHT
    for i, (name, values) in enumerate(series.items()):
        colour = COLOURS[i % len(COLOURS)]
        chosen = np.unique(np.linspace(0, len(x) - 1, min(len(x), MOST_POINTS)).astype(int))
        pairs = zip(frame.at_x(x[chosen]), frame.at_y(values[chosen]), strict=True)
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in pairs)
        content.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.2" opacity=".85"/>')
        legend.append((name, colour))
    for name, colour in reversed(legend):
        legend_text = f'<text x="{right}" y="14" text-anchor="end" fill="{colour}">{html.escape(name)}</text>'
        content.append(legend_text)
        right -= 7 * len(name) + 14
    return frame.drawn(title, x_name, "".join(content))


def bars(title: str, starts: Array, ends: Array, values: Array, marked: NDArray[np.bool_], x_name: str) -> str:
    """One from each start to each end; those that are marked in another colour, cut off where they are very high."""
    most = max(1.2, 1.5 * float(np.quantile(values, 0.9)))
    frame = Frame((float(starts[0]), float(ends[-1])), (0.0, most))
    content = []
    for start, end, value, bad in zip(starts, ends, values, marked, strict=True):
        left, right = float(frame.at_x(start)), float(frame.at_x(end))
        top, bottom = float(frame.at_y(min(value, most))), float(frame.at_y(0.0))
        content.append(
            f'<rect x="{left + 0.5:.1f}" y="{top:.1f}" width="{max(right - left - 1.0, 0.5):.1f}" '
            f'height="{bottom - top:.1f}" fill="{VERMILION if bad else BLUE}" opacity=".8"/>'
        )
    return frame.drawn(title, x_name, "".join(content))


def _reach(values: Array) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    low = 0.0 if 0.0 <= low < 0.5 * high else low
    margin = 0.05 * (high - low)
    return low - (margin if low else 0.0), high + margin


def _ticks(low: float, high: float, about: int) -> list[float]:
    """Round numbers between two."""
    rough = (high - low) / about
    power = 10.0 ** np.floor(np.log10(rough))
    step = next(float(each * power) for each in (1.0, 2.0, 5.0, 10.0) if each * power >= rough)
    first = int(np.ceil(low / step - 1e-9))
    return [round(k * step, 12) for k in range(first, int(np.floor(high / step + 1e-9)) + 1)]
