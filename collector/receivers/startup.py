"""Opening the addresses that receivers listen on, with errors an operator can act on."""

from __future__ import annotations

import errno
import os
import socket

from collector.config.settings import split_host_port
from collector.start_error import StartError

BACKLOG = 1024


class ReceiverStartError(StartError):
    """A receiver can't start; the message names the address, the configuration key and the remedy."""


def open_sockets(endpoint: str, key: str) -> list[socket.socket]:
    """Listening sockets for `host:port`, one per address of the host; without a host on all interfaces.

    Args:
        endpoint: the address, as in the settings.
        key: path of the setting, for the message.

    Raises:
        ReceiverStartError: one of the addresses can't be listened on.
    """
    host, port = split_host_port(endpoint)
    sockets: list[socket.socket] = []
    try:
        if not host:
            dual = socket.has_dualstack_ipv6()
            family = socket.AF_INET6 if dual else socket.AF_INET
            sockets.append(socket.create_server(("", port), family=family, dualstack_ipv6=dual, backlog=BACKLOG))
        else:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
            for family, address in dict.fromkeys((family, address) for family, _, _, _, address in found):
                try:
                    sockets.append(socket.create_server(address[:2], family=family, backlog=BACKLOG))
                except OSError as error:
                    # A name such as localhost may have an IPv6 address on a machine without IPv6.
                    if error.errno not in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT) or len(found) == 1:
                        raise
            if not sockets:
                raise OSError(errno.EADDRNOTAVAIL, os.strerror(errno.EADDRNOTAVAIL))
    except OSError as error:
        for opened in sockets:
            opened.close()
        raise ReceiverStartError(_explain(error, endpoint, key)) from None
    for opened in sockets:
        opened.setblocking(False)
    return sockets


def _explain(error: OSError, endpoint: str, key: str) -> str:
    if error.errno == errno.EADDRINUSE:
        remedy = f"another program listens there; stop it, or change {key}"
    elif error.errno == errno.EACCES:
        remedy = f"this user may not listen there; use a port from 1024 up in {key}"
    else:
        remedy = f"set {key} to an address of this machine, such as 127.0.0.1:4317"
    # gaierrors have numbers of their own; for the others Python's text repeats the address.
    reason = error.strerror if isinstance(error, socket.gaierror) else os.strerror(error.errno or 0)
    return f"can't listen on {endpoint}: {reason}; {remedy}"
