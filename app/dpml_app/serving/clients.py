"""By what the server tells clients apart: the address that a request comes from.

Behind a proxy, it is the last address in ``X-Forwarded-For`` (`Head.client`). An IPv6 client has a whole /64 network.
People behind one router are one client: fair turns slow them down together, and limits leave room for a class.
"""

import ipaddress
from functools import lru_cache
from typing import Any

import panel as pn

# of what no request has asked for, such as a page in a notebook
NOBODY = ""
NETWORK = 64


@lru_cache(10_000)
def client_of(address: str | None) -> str:
    """Return the client that has an address.

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
    """Return the client that has asked for a session."""
    request = getattr(session_context, "request", None)
    return client_of(getattr(request, "remote_ip", None))


def current_client() -> str:
    """Return the client of the session whose code runs."""
    return client_of_session(getattr(pn.state.curdoc, "session_context", None))
