"""The deployment for several people: compose.yaml, and deploy/nginx.conf in an nginx of this machine."""

import asyncio
import base64
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import yaml
from app_server import ROOT, Server, free_port
from dpml_app.serving.headers import HEADERS
from dpml_app.serving.limits import LIMITS
from dpml_app.serving.serve import HEALTH, parser
from nginx_proxy import CONFIGURATION, NGINX, OPENSSL, PASSWORD, PATIENCE, Proxy, configured

LESSON = "what-it-costs"


def recipe():
    return yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))


# ---- compose.yaml ----------------------------------------------------------------------------------------------------


def test_compose_accepts_the_recipe():
    commands = (["docker", "compose"], ["docker-compose"])
    for command in commands:
        if shutil.which(command[0]) and not subprocess.run([*command, "version"], capture_output=True).returncode:
            break
    else:
        pytest.skip("Docker Compose is not installed")
    environment = {**os.environ, "DPML_NAME": "dpml.example.org", "DPML_SECRET_KEY": "a" * 64}
    ended = subprocess.run([*command, "config"], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    del environment["DPML_SECRET_KEY"]
    assert subprocess.run([*command, "config"], cwd=ROOT, env=environment, capture_output=True).returncode


def test_files_of_the_recipe_exist_or_are_the_operators():
    services = recipe()["services"]
    assert (ROOT / services["app"]["build"] / "Dockerfile").is_file()
    mounted = [volume.rsplit(":", 2)[0] for volume in services["proxy"]["volumes"]]
    assert [path for path in mounted if path.startswith("./")] == ["./deploy/nginx.conf"]
    # certificate and passwords are never in the project
    defaults = [re.fullmatch(r"\$\{(\w+):-\./(.+)\}", path).groups() for path in mounted[1:]]
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").split()
    told = (ROOT / "docs" / "how_to" / "serve.md").read_text(encoding="utf-8")
    for variable, path in defaults:
        assert f"/{path}" in [line.rstrip("/") for line in ignored]
        assert variable in told
        assert path in told


def test_ports_and_paths_of_the_services_match():
    services = recipe()["services"]
    proxy = services["proxy"]
    exposed = re.search(r"^EXPOSE (\d+)$", (ROOT / "Dockerfile").read_text(encoding="utf-8"), flags=re.M)[1]
    assert re.findall(r"^    server (.+);", CONFIGURATION, flags=re.M) == [f"app:{exposed}"]
    assert str(parser().parse_args([]).port) == exposed
    [listening] = re.findall(r"listen (\d+) ssl;", CONFIGURATION)
    assert proxy["ports"] == [f"443:{listening}"]
    assert proxy["healthcheck"]["test"][-1] == f"https://127.0.0.1:{listening}/{HEALTH}"
    targets = {volume.rsplit(":", 2)[1] for volume in proxy["volumes"]}
    read = set(re.findall(r"/run/secrets/\w+", CONFIGURATION))
    assert read == {"/run/secrets/tls", "/run/secrets/users"} < targets
    assert set(proxy["depends_on"]) == {"app"}


def test_the_app_has_no_port_no_way_out_and_nothing_to_write_to():
    found = recipe()
    app = found["services"]["app"]
    for service in found["services"].values():
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["mem_limit"]
    assert "ports" not in app
    assert "container_name" not in app  # it could not be scaled
    assert app["scale"] == 2
    assert app["networks"] == ["inside"]
    assert found["networks"]["inside"] == {"internal": True}
    assert all(volume.endswith(":ro") for volume in app["volumes"])
    limits = {limit.name: limit for limit in LIMITS}
    assert set(app["environment"]) - set(limits) == {"BOKEH_SECRET_KEY"}
    assert all(
        0 < float(app["environment"][name]) < limits[name].most for name in set(limits) & set(app["environment"])
    )
    assert parser().parse_args([part.replace("${", "$") for part in app["command"]]).proxy
    assert float(app["environment"]["DPML_TABLES_MB"]) < 1000 * float(app["mem_limit"].removesuffix("g"))


def test_options_for_an_identity_provider_are_those_of_panel():
    text = (ROOT / "docs" / "how_to" / "serve.md").read_text(encoding="utf-8")
    named = set(re.findall(r"--(?:oauth|cookie)-[a-z-]+", text))
    assert named >= {"--oauth-provider", "--oauth-key", "--oauth-secret", "--cookie-secret"}
    ended = subprocess.run([sys.executable, "-m", "panel", "serve", "--help"], capture_output=True, text=True)
    assert named <= set(re.findall(r"--[a-z-]+", ended.stdout))


# ---- nginx -----------------------------------------------------------------------------------------------------------

# without nginx these tests are skipped, but under CI they fail
CI = os.environ.get("CI", "").lower() == "true"
needs_nginx = pytest.mark.skipif(
    not CI and (NGINX is None or OPENSSL is None), reason="nginx or openssl is not installed"
)


@needs_nginx
def test_nginx_accepts_the_configuration(tmp_path):
    ended = subprocess.run([NGINX, "-t", "-c", configured(tmp_path, 8443, [1])], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert "test is successful" in ended.stderr
    assert "[warn]" not in ended.stderr


# ---- nginx before two servers that answer at once --------------------------------------------------------------------


class Echo(BaseHTTPRequestHandler):
    """Answers with the server's number and the headers it got; holds a WebSocket's request until the test is over."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.paths.append(self.path)
        if self.path == "/app/ws":
            self.server.over.wait(PATIENCE)
        static = self.path.startswith("/static/")
        body = b"a = 1;\n" * 10_000 if static else json.dumps([self.server.number, dict(self.headers)]).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/javascript" if static else "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_args):
        pass


class EchoServer(ThreadingHTTPServer):
    request_queue_size = 500
    daemon_threads = True

    def __init__(self, number, port=0):
        super().__init__(("127.0.0.1", port), Echo)
        self.number, self.over, self.paths = number, threading.Event(), []
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self):
        self.over.set()
        self.shutdown()
        self.server_close()


@pytest.fixture
def echoed(tmp_path):
    servers = [EchoServer(number) for number in range(2)]
    proxy = Proxy(tmp_path, [server.server_port for server in servers])
    yield proxy, servers
    proxy.stop()
    for server in servers:
        server.stop()


def page(proxy, path="/app", **headers):
    """Return the number of the server that made a page, the headers that it got, and the cookie that is set."""
    status, answered, body = proxy.ask(path, Authorization=PASSWORD, **headers)
    assert status == 200
    number, got = json.loads(body)
    cookie = (answered["Set-Cookie"] or "").partition(";")[0]
    return number, got, cookie


@needs_nginx
def test_a_browser_stays_with_one_process(echoed):
    proxy, _servers = echoed
    places = {}
    # each from an address of its own: no limit delays them
    for client in range(20):
        address = f"192.0.2.{client}"
        number, got, cookie = page(proxy, X_Test_Client=address)
        assert cookie == f"dpml_route={got['X-Dpml-Route']}"
        for _ in range(3):
            again, _got, none = page(proxy, "/app?page=noise", Cookie=cookie, X_Test_Client=address)
            assert (again, none) == (number, "")
        places[cookie] = number
    assert len(places) == 20
    assert set(places.values()) == {0, 1}
    attributes = proxy.ask("/app", Authorization=PASSWORD)[1]["Set-Cookie"].split("; ")[1:]
    assert attributes == ["Path=/", "HttpOnly", "Secure", "SameSite=Lax"]


@needs_nginx
def test_a_class_meets_in_the_process_of_its_teacher(echoed):
    proxy, _servers = echoed
    seen = set()
    for client in range(10):
        number, got, teacher = page(proxy, X_Test_Client=f"192.0.2.{client}")
        seen.add(number)
        link = f"/app?lesson={LESSON}&class={got['X-Dpml-Route']}-abcdefgh"
        for visitor in range(5):
            mine = {"Cookie": f"dpml_route={visitor:08x}", "X_Test_Client": f"198.51.100.{10 * client + visitor}"}
            where, got_too, cookie = page(proxy, link, **mine)
            # the cookie sends the WebSocket to the same process
            assert (where, cookie) == (number, teacher)
            assert got_too["X-Dpml-Route"] == got["X-Dpml-Route"]
    assert seen == {0, 1}
    # a code without a route names no process
    assert page(proxy, "/app?class=abcdefgh", Cookie="dpml_route=01234567")[1]["X-Dpml-Route"] == "01234567"


@needs_nginx
@pytest.mark.parametrize("sent", ["junk", "0123456", "012345678", "01234567; evil"])
def test_a_cookie_of_another_form_is_replaced(echoed, sent):
    proxy, _servers = echoed
    got, cookie = page(proxy, Cookie=f"dpml_route={sent}")[1:]
    assert re.fullmatch("[0-9a-f]{8}", got["X-Dpml-Route"])
    assert cookie == ("" if sent.startswith("01234567;") else f"dpml_route={got['X-Dpml-Route']}")


@needs_nginx
def test_browsers_of_a_killed_process_reach_the_other(echoed):
    proxy, servers = echoed
    cookies = {}
    while len(cookies) < 2:
        number, _got, cookie = page(proxy, X_Test_Client=f"192.0.2.{len(proxy.lines()) % 250}")
        cookies[number] = cookie
    servers[0].stop()
    assert page(proxy, Cookie=cookies[0])[0] == 1
    assert page(proxy, Cookie=cookies[1])[0] == 1
    servers[0] = EchoServer(0, servers[0].server_port)
    deadline = time.monotonic() + PATIENCE
    while page(proxy, Cookie=cookies[0], X_Test_Client=f"192.0.2.{len(proxy.lines()) % 250}")[0] != 0:
        assert time.monotonic() < deadline
        time.sleep(0.5)


@needs_nginx
def test_pages_of_a_greedy_client_wait_and_others_do_not(echoed):
    """Of 80 pages at once, one is made at once, 60 wait for their turn at five a second, and the rest is refused."""
    proxy, _servers = echoed

    def get(client):
        return proxy.ask("/app", Authorization=PASSWORD, X_Test_Client=client)[0]

    with ThreadPoolExecutor(80) as threads:
        begun = time.monotonic()
        greedy = [threads.submit(get, "192.0.2.1") for _ in range(80)]
        refused = 0
        for one in as_completed(greedy):
            refused += one.result() == 429
            if refused == 10:
                break
        asked = time.monotonic()
        assert get("192.0.2.2") == 200
        took = time.monotonic() - asked
        waiting = sum(not one.done() for one in greedy)
        answers = Counter(one.result() for one in greedy)
        lasted = time.monotonic() - begun
    assert set(answers) == {200, 429}
    assert 61 <= answers[200] <= 70  # some are made while the others arrive
    assert waiting > 30
    assert took < 2
    assert 11 <= lasted < 30


@needs_nginx
@pytest.mark.parametrize(
    ("client", "same", "other"),
    [("192.0.2.1", "192.0.2.1", "192.0.2.2"), ("2001:db8::1", "2001:db8::ffff", "2001:db8:0:1::1")],
)
def test_a_client_has_so_many_sockets(echoed, client, same, other):
    proxy, servers = echoed

    def get(address):
        return proxy.ask("/app/ws", Authorization=PASSWORD, X_Test_Client=address)[0]

    with ThreadPoolExecutor(210) as threads:
        held = [threads.submit(get, client) for _ in range(200)]
        deadline = time.monotonic() + PATIENCE
        while sum(server.paths.count("/app/ws") for server in servers) < 200:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert get(same) == 429
        another = threads.submit(get, other)
        for server in servers:
            server.over.set()
        assert another.result() == 200
        assert {one.result() for one in held} == {200}


@needs_nginx
def test_static_files_are_compressed_and_fetched_once(echoed):
    proxy, servers = echoed
    sizes = set()
    for encoding in ("gzip", "gzip", "identity", "identity"):
        headers = {"Authorization": PASSWORD, "Accept-Encoding": encoding}
        status, answered, body = proxy.ask("/static/js/bokeh.min.js?v=1", **headers)
        assert status == 200
        assert (answered["Content-Encoding"] == "gzip") == (encoding == "gzip")
        sizes.add((encoding, len(body)))
    assert dict(sizes)["identity"] == 70_000 > 50 * dict(sizes)["gzip"]
    assert sum(len(server.paths) for server in servers) == 1


@needs_nginx
def test_large_requests_and_embedded_pages_are_refused(echoed):
    proxy, servers = echoed
    for path in ("/app/autoload.js?bokeh-autoload-element=x", "/app/metadata"):
        assert proxy.ask(path, Authorization=PASSWORD)[0] == 404
    assert proxy.ask("/app", method="POST", Authorization=PASSWORD, Content_Length=str(10**6))[0] == 413
    assert proxy.ask("/app", Authorization=PASSWORD, X_Padding="x" * 40_000)[0] == 400
    assert not any(server.paths for server in servers)


# ---- nginx before two processes of the app ---------------------------------------------------------------------------


class Process(Server):
    """One process of the app behind the proxy."""

    def __init__(self, origin):
        self.origin = origin
        super().__init__(BOKEH_SECRET_KEY="k" * 32, DPML_CLASSES="3")

    def command(self, port):
        return [sys.executable, "-m", "dpml_app", "--port", str(port), "--proxy", "--origin", self.origin]


@pytest.fixture(scope="module")
def deployed(tmp_path_factory):
    """nginx, and two processes of the app by their ports."""
    port = free_port()
    apps = {app.port: app for app in (Process(f"localhost:{port}") for _ in range(2))}
    proxy = Proxy(tmp_path_factory.mktemp("proxy"), list(apps), port)
    yield proxy, apps
    proxy.stop()
    for app in apps.values():
        if app.process.poll() is None:
            app.stop()


def socket_sessions():
    spec = importlib.util.spec_from_file_location("socket_session", ROOT / "benchmarks" / "socket_session.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def opened(proxy, query, state="noise-state", **headers):
    """Return a session, not yet open, and the headers of its requests."""
    session = socket_sessions().SocketSession(proxy.url, query, state, trusted=False)
    return session, {"Authorization": PASSWORD, "Origin": proxy.url, **headers}


@contextmanager
def answered_by(proxy):
    """Collect the ports of the processes that answer the requests inside, by path."""
    before, found = len(proxy.lines()), {}
    yield found
    for _time, _status, _method, path, *processes in proxy.lines()[before:]:
        found.setdefault(path, []).append(int(processes[-1].rpartition(":")[2]))


@needs_nginx
def test_the_app_answers_only_with_the_password(deployed):
    proxy, _apps = deployed
    assert proxy.ask("/app")[0] == proxy.ask("/app/ws")[0] == proxy.ask("/static/js/bokeh.min.js")[0] == 401
    assert proxy.ask(f"/{HEALTH}")[0] == 200
    assert proxy.ask("/app", Authorization="Basic " + base64.b64encode(b"ada:byron").decode())[0] == 401
    status, headers, body = proxy.ask("/app", Authorization=PASSWORD)
    assert status == 200
    assert b"dpml" in body
    assert {name: headers[name] for name in HEADERS} == HEADERS
    assert headers["Strict-Transport-Security"]
    for path in ("/app?bokeh-session-id=evil-0", "/app/?bokeh-token=evil-0"):
        assert proxy.ask(path, Authorization=PASSWORD)[0] == 403


@needs_nginx
def test_a_session_stays_with_its_process_and_keeps_no_claimed_address(deployed):
    proxy, apps = deployed

    async def visit():
        session, headers = opened(proxy, "?page=noise&epsilon=0.5")
        claimed = {"X-Forwarded-For": "203.0.113.9", "X-Real-IP": "203.0.113.9", "X-Dpml-Route": "ffffffff"}
        try:
            await session.open(**headers, **claimed)
            await session.answered(PATIENCE)
            await session.move("noise_epsilon", 10)
            assert session.faults == []
            return session.payload["headers"], session.cookies["dpml_route"]
        finally:
            await session.close()

    used = set()
    for _ in range(6):
        with answered_by(proxy) as found:
            sent, route = asyncio.run(visit())
            deadline = time.monotonic() + PATIENCE
            while proxy.lines()[-1][3] != "/app/ws" and time.monotonic() < deadline:
                time.sleep(0.1)  # a socket's line is written when it closes
        assert found["/app"] == found["/app/ws"]
        used.update(found["/app"])
        assert sent["X-Forwarded-For"] == sent["X-Real-Ip"] == "127.0.0.1"
        assert sent["X-Dpml-Route"] == route != "ffffffff"
    assert used == set(apps)


@needs_nginx
def test_visitors_join_a_class_and_lose_it_with_its_process(deployed):
    """Last: it kills a process. Its visitors' sockets close, and their pages load again from the other process."""
    proxy, apps = deployed

    def told(session):
        columns = session.columns("class_state")
        return json.loads(columns["payload"][0])

    async def ask(session, act, code=""):
        columns = {"act": act, "code": code, "key": "", "lesson": LESSON, "step": 1, "option": -1, "serial": 1}
        await session._write("class_request", {name: [value] for name, value in columns.items()})

    async def until(holds):
        async with asyncio.timeout(PATIENCE):
            while not holds():
                await asyncio.sleep(0.05)

    async def hold():
        teacher, headers = opened(proxy, f"?lesson={LESSON}&step=1", "explore-state")
        await teacher.open(**headers)
        await ask(teacher, "open")
        await until(lambda: told(teacher).get("code"))
        code = told(teacher)["code"]
        assert code.startswith(teacher.cookies["dpml_route"] + "-")
        visitors = []
        for number in range(3):
            visitor, headers = opened(proxy, f"?lesson={LESSON}&class={code}", "explore-state")
            await visitor.open(**headers, **{"X-Test-Client": f"192.0.2.{number}"})
            await ask(visitor, "join", code)
            await until(lambda visitor=visitor: told(visitor).get("role") == "visitor")
            visitors.append(visitor)
        await until(lambda: told(teacher)["here"] == 3)
        [port] = {int(line[4].rpartition(":")[2]) for line in proxy.lines()[-4:] if line[3] == "/app"}
        apps[port].process.send_signal(signal.SIGKILL)
        await until(lambda: all(visitor.faults for visitor in visitors))
        for one in (teacher, *visitors):
            await one.close()
        again, headers = opened(proxy, "?page=noise&epsilon=0.5")
        again.cookies = dict(visitors[0].cookies)
        with answered_by(proxy) as found:
            cookie = f"dpml_route={again.cookies['dpml_route']}"
            await again.open(**headers, Cookie=cookie)
            await again.answered(PATIENCE)
        await again.close()
        assert again.faults == []
        assert found["/app"] == [other for other in apps if other != port]

    asyncio.run(hold())
