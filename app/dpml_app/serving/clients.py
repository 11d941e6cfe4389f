"""The client and the route of a session.

A client is an IP address: of the connection, or the one that a proxy reports. An IPv6 client is a whole /64 network.
People behind one router are one client, so limits leave room for a class.
"""

import ipaddress
import re
from functools import lru_cache
from typing import Any

# the client of a page that nobody requested, such as one in a notebook
NOBODY = ""
NETWORK = 64
# the header by which deploy/nginx.conf names the route that it hashes onto a process, in the case that Tornado uses
ROUTE_HEADER = "X-Dpml-Route"
ROUTE = re.compile("[0-9a-f]{8}")


@lru_cache(10_000)
def client_of(address: str | None) -> str:
    """Return the client of an address.

    Examples
    --------
    >>> client_of("192.0.2.7"), client_of("2001:db8::1") == client_of("2001:db8::2")
    ('192.0.2.7', True)
    """
    try:
        ip = ipaddress.ip_address(address or "")
    except ValueError:
        return address or NOBODY
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.ipv4_mapped is not None:
            return str(ip.ipv4_mapped)
        return str(ipaddress.ip_network((int(ip), NETWORK), strict=False))
    return str(ip)


def client_of_session(session_context: Any) -> str:
    """Return the client that requested a session."""
    request = getattr(session_context, "request", None)
    return client_of(getattr(request, "remote_ip", None))


def route_of_session(session_context: Any) -> str:
    """Return the route of a session at a proxy, empty without a proxy."""
    headers = getattr(getattr(session_context, "request", None), "headers", None) or {}
    route = headers.get(ROUTE_HEADER, "")
    return route if ROUTE.fullmatch(route) else ""


def current_client() -> str:
    """Return the client of the session whose code runs."""
    import panel as pn  # worker processes import this module, and need no Panel

    return client_of_session(getattr(pn.state.curdoc, "session_context", None))
