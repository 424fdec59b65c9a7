"""Who may open the live page: this machine, and whom the user allows; no page of somebody else's in its browser."""

from __future__ import annotations

import http
import ipaddress
import logging
import re
import socket
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import viser
import websockets.asyncio.server
from websockets.exceptions import ConnectionClosed, InvalidMessage

from exposim.errors import InvalidArgument, MissingExtra

_ADDRESS = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(?P<port>\d{1,5}))?")
_VISER = "viser."  # how the modules begin whose servers are meant
_PORTS = {"http": 80, "https": 443}

# Held while a server starts, for viser then finds our door in place of the one it knows.
_starting = threading.Lock()


@dataclass(frozen=True)
class Visitors:
    """Decides by what a browser says of itself, which a page in it cannot change.

    ``Host`` is the address as the browser has it: a name that somebody else has pointed to this machine is refused.
    ``Origin`` is the page that asks: one that does not come from here is refused. What is no browser says none.

    Args:
        host: That the server listens on.
        allowed: Names besides that the page may have, or come from.
    """

    host: str
    allowed: tuple[str, ...] = ()

    @classmethod
    def of(cls, host: str, allowed_hosts: Sequence[str]) -> Visitors:
        """Checks the names."""
        if isinstance(allowed_hosts, (str, bytes)) or not isinstance(allowed_hosts, Iterable):
            raise InvalidArgument(f"allowed_hosts is {allowed_hosts!r}; give a list of names")
        for name in allowed_hosts:
            if not isinstance(name, str) or (found := _ADDRESS.fullmatch(name)) is None or found["port"] is not None:
                raise InvalidArgument(f"allowed_hosts has {name!r}; give names such as robot.example.org, without port")
        return cls(host, tuple(name.lower() for name in allowed_hosts))

    def refusal(self, hosts: Sequence[str], origins: Sequence[str]) -> str | None:
        """Why a request with these headers is refused; ``None`` if it is not."""
        host = _ADDRESS.fullmatch(hosts[0]) if len(hosts) == 1 else None
        if host is None or not self._is_here(host["name"].lower()):
            return f"the page has no address {', '.join(hosts)!r}; " + _allow(hosts)
        if not origins:
            return None
        scheme, _, rest = origins[0].partition("://")
        origin = _ADDRESS.fullmatch(rest) if len(origins) == 1 and scheme in _PORTS else None
        if origin is None:
            return f"pages of {', '.join(origins)!r} may not connect"
        name, own = origin["name"].lower(), host["name"].lower()
        same_port = int(origin["port"] or _PORTS[scheme]) == int(host["port"] or _PORTS[scheme])
        same_name = name == own or (_is_loopback(name) and _is_loopback(own))
        if name in self.allowed or (same_port and same_name):
            return None
        return f"pages of {origins[0]!r} may not connect; " + _allow([name])

    def _is_here(self, name: str) -> bool:
        if _is_loopback(name) or name in self.allowed:
            return True
        if _is_loopback(self.host):
            return False
        # Seen from elsewhere: by any number, which nobody can point elsewhere, and by this machine's names.
        return _number(name) is not None or name in (self.host.lower(), socket.gethostname().lower())


def start_server(visitors: Visitors, port: int, label: str) -> viser.ViserServer:
    """A server of viser that asks every request whether it may come in, which viser has no option for."""
    door = websockets.asyncio.server.serve
    opened = []

    class Guarded(door):  # type: ignore[misc, valid-type]
        def __init__(self, handler: Any, host: Any = None, port: Any = None, **options: Any):
            if getattr(handler, "__module__", "").startswith(_VISER) and host == visitors.host:
                options["process_request"] = _asking(visitors, options.get("process_request"))
                options["logger"] = _logger()
                opened.append(port)
            super().__init__(handler, host, port, **options)

    with _starting:
        websockets.asyncio.server.serve = Guarded  # type: ignore[misc]
        try:
            server = viser.ViserServer(host=visitors.host, port=port, label=label, verbose=False)
        finally:
            websockets.asyncio.server.serve = door  # type: ignore[misc]
    if not opened:
        server.stop()
        raise MissingExtra(
            f"viser {viser.__version__} starts its server in another way than is known here and cannot be guarded; "
            f"run: pip install viser==1.1.1"
        )
    return server


def _asking(visitors: Visitors, answer: Any) -> Any:
    """Answers requests as before, but for those that are refused."""

    def ask(connection: Any, request: Any) -> Any:
        refusal = visitors.refusal(request.headers.get_all("Host"), request.headers.get_all("Origin"))
        if refusal is not None:
            return connection.respond(http.HTTPStatus.FORBIDDEN, refusal + "\n")
        return None if answer is None else answer(connection, request)

    return ask


def _logger() -> logging.Logger:
    """That of the servers, but for visitors who leave: viser's own filter starts with the first request."""
    logger = logging.getLogger("websockets.server.exposim")
    if _is_kept not in logger.filters:
        logger.addFilter(_is_kept)
    return logger


def _is_kept(record: logging.LogRecord) -> bool:
    """Whether a record is kept: not of a tab that was closed, nor of a connection that a browser never used."""
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, InvalidMessage):
        return not isinstance(error.__cause__, EOFError)
    return not isinstance(error, (ConnectionClosed, ConnectionError))


def _allow(names: Sequence[str]) -> str:
    return f"whoever started the viewer can allow it: allowed_hosts={list(names)}, or exposim view --allow-host"


def _is_loopback(name: str) -> bool:
    number = _number(name)
    return name == "localhost" if number is None else number.is_loopback


def _number(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return None
