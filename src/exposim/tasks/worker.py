"""A process that performs tasks which another one sends, until that one ends."""

from __future__ import annotations

import os
import pickle
import signal
import threading
from multiprocessing.connection import Connection
from queue import SimpleQueue

from exposim.tasks.task import Outcome, perform


def work(descriptor: int) -> None:
    """Performs what comes over a connection, one after the other."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    connection = Connection(descriptor)
    received: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_receive, args=(connection, received), daemon=True).start()
    while True:
        connection.send_bytes(_packed(_perform(received.get())))


def _receive(connection: Connection, received: SimpleQueue[bytes]) -> None:
    """Takes in what comes; a parent that is gone, however it ended, ends this process in the midst of its work."""
    try:
        while True:
            received.put(connection.recv_bytes())
    except (EOFError, OSError):
        os._exit(1)


def _perform(message: bytes) -> Outcome:
    try:
        function, arguments = pickle.loads(message)
    except Exception as error:
        return Outcome.of(error)
    return perform(function, arguments)


def _packed(outcome: Outcome) -> bytes:
    try:
        return pickle.dumps(outcome)
    except Exception as error:
        return pickle.dumps(Outcome.of(error))
