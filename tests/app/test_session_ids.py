"""Sessions named from outside are refused by both ways of serving, and by two browsers."""

import base64
import json
import re
import socket
import sys
from types import SimpleNamespace

import pytest
from app_in_browser import App
from app_server import Server
from bokeh.util.token import (
    generate_jwt_token,
    generate_secret_key,
    generate_session_id,
    get_session_id,
)
from dpml_app.serving.clients import client_of, route_of_session

PATIENCE = 60.0
EVIL = "evil-0"
KEY = generate_secret_key()


class Own(Server):
    """``python -m dpml_app``."""

    def command(self, port):
        return [sys.executable, "-m", "dpml_app", "--port", str(port)]


@pytest.fixture(scope="module")
def own():
    server = Own()
    yield server
    server.stop()


@pytest.fixture(scope="module", params=["panel", "own"])
def served(request):
    """A server of each kind."""
    return request.getfixturevalue({"panel": "server", "own": "own"}[request.param])


# ---- what is sent, byte by byte --------------------------------------------------------------------------------------


def send(server, content, source="127.0.0.1"):
    """Return all that a server answers until it closes the connection."""
    with socket.create_connection(("127.0.0.1", server.port), PATIENCE, (source, 0)) as connection:
        connection.sendall(content)
        answer = b""
        while part := connection.recv(65536):
            answer += part
    return answer.decode("latin-1")


UPGRADE = ("Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: eA==")


def head(line, *headers, last=True):
    lines = [f"{line} HTTP/1.1", "Host: localhost", *headers, *(["Connection: close"] if last else [])]
    return "\r\n".join([*lines, "", ""]).encode()


def ask(server, line, *headers, body="", **more):
    if body:
        headers = (*headers, "Content-Type: application/x-www-form-urlencoded", f"Content-Length: {len(body)}")
    return send(server, head(line, *headers) + body.encode(), **more)


def status(answer):
    return int(answer.split(" ", 2)[1])


def tokens(answer):
    return re.findall(r'"token":"([^"]+)"', answer)


NAMED = {
    "argument": (f"GET /app?bokeh-session-id={EVIL}",),
    "argument after others": (f"GET /app?page=noise&bokeh-session-id={EVIL}",),
    "argument twice": (f"GET /app?bokeh-session-id=&bokeh-session-id={EVIL}",),
    "empty argument": ("GET /app?bokeh-session-id=",),
    "encoded argument": (f"GET /app?bokeh%2Dsession%2did={EVIL}",),
    "argument in capitals": (f"GET /app?Bokeh-Session-Id={EVIL}",),
    "slash": (f"GET /app/?bokeh-session-id={EVIL}",),
    "header": ("GET /app", f"Bokeh-Session-Id: {EVIL}"),
    "header in capitals": ("GET /app", f"BOKEH-SESSION-ID: {EVIL}"),
    "header at a slash": ("GET /app/", f"bokeh-session-id: {EVIL}"),
    "header and argument": (f"GET /app?bokeh-session-id={EVIL}", f"Bokeh-Session-Id: {EVIL}"),
    "token": ("GET /app?bokeh-token=" + generate_jwt_token(EVIL, signed=False),),
    "token at a slash": ("GET /app/?bokeh-token=" + generate_jwt_token(EVIL, signed=False),),
    "autoload": ("GET /app/autoload.js?bokeh-autoload-element=x",),
    "autoload with argument": (f"GET /app/autoload.js?bokeh-autoload-element=x&bokeh-session-id={EVIL}",),
    "socket": (f"GET /app/ws?bokeh-session-id={EVIL}",),
    "post": (f"POST /app?bokeh-session-id={EVIL}",),
    "capitals": (f"GET /APP?bokeh-session-id={EVIL}",),
    "encoded path": (f"GET /%61pp?bokeh-session-id={EVIL}",),
    "two slashes": (f"GET //app?bokeh-session-id={EVIL}",),
    "dots": (f"GET /x/../app?bokeh-session-id={EVIL}",),
    "whole address": (f"GET http://localhost/app?bokeh-session-id={EVIL}",),
}


@pytest.mark.parametrize("way", NAMED)
def test_a_session_named_from_outside_is_refused(served, way):
    answer = ask(served, *NAMED[way])
    assert 400 <= status(answer) < 500
    assert not tokens(answer)


def test_a_session_named_in_a_posted_form_is_refused(served):
    answer = ask(served, "POST /app", body=f"bokeh-session-id={EVIL}")
    assert 400 <= status(answer) < 500
    assert not tokens(answer)


def test_a_signed_session_of_another_visitor_is_refused(served):
    """An attacker may send a victim the name of a session that the server has signed: the attacker's own."""
    (token,) = tokens(ask(served, "GET /app"))
    for line in (f"GET /app?bokeh-session-id={get_session_id(token)}", f"GET /app/?bokeh-token={token}"):
        answer = ask(served, line)
        assert status(answer) == 403
        assert not tokens(answer)


def test_a_cookie_names_no_session_and_each_page_has_its_own(served):
    cookies = f"Cookie: bokeh-session-id={EVIL}; Bokeh-Session-Id={EVIL}; session={EVIL}"
    found = [tokens(ask(served, "GET /app", cookies)) for _ in range(2)]
    ids = {get_session_id(token) for (token,) in found}
    assert len(ids) == 2
    assert EVIL not in ids


# ---- sockets ---------------------------------------------------------------------------------------------------------


def acknowledged(server, token):
    """Return whether a socket with a token is opened, and acknowledged."""
    with socket.create_connection(("127.0.0.1", server.port), PATIENCE) as connection:
        connection.sendall(head("GET /app/ws", *UPGRADE, f"Sec-WebSocket-Protocol: bokeh, {token}", last=False))
        answer = b""
        while part := connection.recv(65536):
            answer += part
            start, _, frames = answer.partition(b"\r\n\r\n")
            if b" 101 " not in start.split(b"\r\n")[0]:
                return False
            if frames[:1] == b"\x88":  # it is closed
                return False
            if b'"ACK"' in frames:
                return True
        return False


def changed(token):
    """Return a token with another session, and the signature of the first."""
    payload, signature = token.split(".")
    content = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    made = base64.urlsafe_b64encode(json.dumps({**content, "session_id": EVIL}).encode()).decode().rstrip("=")
    return f"{made}.{signature}"


def test_a_browser_returns_by_its_own_token(served):
    (token,) = tokens(ask(served, "GET /app"))
    assert [acknowledged(served, token) for _ in range(2)] == [True, True]


def test_a_forged_token_opens_no_session(own):
    (token,) = tokens(ask(own, "GET /app"))
    forged = [
        generate_jwt_token(EVIL, signed=False),
        generate_jwt_token(EVIL, KEY.encode(), signed=True),
        generate_jwt_token(generate_session_id(KEY.encode(), signed=True), KEY.encode(), signed=True),
        token.split(".")[0],
        changed(token),
        "junk",
    ]
    assert not any(acknowledged(own, each) for each in forged)


# ---- clients and routes ----------------------------------------------------------------------------------------------


def test_an_ipv6_network_is_one_client():
    assert client_of("2001:db8::1") == client_of("2001:db8::ffff") != client_of("2001:db8:0:1::1")
    assert client_of("::ffff:192.0.2.1") == client_of("192.0.2.1") != client_of("192.0.2.2")
    assert client_of(None) == client_of("") == ""


@pytest.mark.parametrize(("sent", "route"), [("0123abcd", "0123abcd"), ("0123ABCD", ""), ("0123abcd\n", ""), ("", "")])
def test_a_route_is_eight_hexadecimal_digits(sent, route):
    context = SimpleNamespace(request=SimpleNamespace(headers={"X-Dpml-Route": sent}))
    assert route_of_session(context) == route
    assert route_of_session(None) == ""


# ---- two browsers ----------------------------------------------------------------------------------------------------

SECRET = "secret_of_the_victim"
TABLE = f"{SECRET},left\n" + "".join(f"{i % 50},{'yes' if i % 3 else 'no'}\n" for i in range(100))
OWN_TOKEN = '() => document.documentElement.innerHTML.match(/"token":"([^"]+)"/)[1]'


@pytest.mark.browser
@pytest.mark.parametrize("kind", [Server, Own], ids=["panel", "own"])
def test_an_attacker_shares_no_session_with_a_victim(kind, browser, start_browser):
    """The attacker has a page open and sends the victim every link that names its session; then the victim works."""
    server = kind()
    victims = start_browser()
    try:
        attacker = App(browser.new_page(), server.url, 900)
        attacker.open("?page=mydata", wait=False)
        attacker.page.locator("section.shown input[type=file]").first.wait_for()
        token = attacker.page.evaluate(OWN_TOKEN)
        mine = get_session_id(token)
        victim = victims.new_page()
        for path in ("", "/"):
            for given in (f"bokeh-session-id={mine}", f"bokeh-token={token}", f"bokeh-session-id={EVIL}"):
                assert victim.goto(f"{server.url}{path}?page=mydata&{given}").status == 403
        victim.goto(f"{server.url}?page=mydata")
        field = victim.locator("section.shown input[type=file]").first
        field.wait_for()
        assert get_session_id(victim.evaluate(OWN_TOKEN)) != mine
        field.set_input_files([{"name": "mine.csv", "mimeType": "text/csv", "buffer": TABLE.encode()}])
        victim.get_by_text(SECRET).first.wait_for(timeout=1000 * PATIENCE)
        attacker.page.wait_for_timeout(500)
        assert attacker.page.get_by_text(SECRET).count() == 0
        # the victim's own page works on
        victim.get_by_role("link", name="Noise", exact=True).click()
        victim.locator("section.shown canvas").first.wait_for(timeout=1000 * PATIENCE)
        attacker.page.close()
    finally:
        victims.close()
        server.stop()
