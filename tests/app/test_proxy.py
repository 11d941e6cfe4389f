"""The recipe for several people: compose.yaml and the proxy's file, the latter run by nginx where it is installed."""

import asyncio
import base64
import importlib.util
import os
import re
import shutil
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest
import yaml
from app_server import ROOT, Server, free_port
from dpml_app.serving.headers import HEADERS
from dpml_app.serving.limits import LIMITS
from dpml_app.serving.serve import parser
from dpml_app.serving.shared import STATED

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
OPENSSL = shutil.which("openssl")
TEMPLATE = (ROOT / "deploy" / "nginx.conf.template").read_text(encoding="utf-8")
ENTRY = "Basic " + base64.b64encode(b"ada:lovelace").decode()
SESSIONS = 20
# a worker of nginx must be able to read the test's files
WHOLE = """
{user}
worker_processes 1;
daemon off;
pid {folder}/nginx.pid;
error_log stderr warn;
events {{ worker_connections 512; }}
http {{
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/dpml.conf;
}}
"""


def recipe():
    return yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))


# ---- what is written -------------------------------------------------------------------------------------------------


def test_files_that_the_recipe_names_are_there_or_are_the_operators():
    services = recipe()["services"]
    for service in services.values():
        if "build" in service:
            assert (ROOT / service["build"] / "Dockerfile").is_file()
    mounted = [volume.rsplit(":", 2)[0] for volume in services["proxy"]["volumes"]]
    assert [path for path in mounted if path.startswith("./")] == ["./deploy/nginx.conf.template"]
    assert (ROOT / mounted[0]).is_file()
    # certificate and passwords are never in the project
    defaults = [re.fullmatch(r"\$\{(\w+):-\./(.+)\}", path).groups() for path in mounted[1:]]
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").split()
    told = (ROOT / "docs" / "how_to" / "serve.md").read_text(encoding="utf-8")
    for variable, path in defaults:
        assert f"/{path}" in [line.rstrip("/") for line in ignored]
        assert variable in told
        assert f"{path}" in told


def test_ports_and_names_of_the_services_match():
    found = recipe()
    services = found["services"]
    proxy = services["proxy"]
    told = proxy["environment"]
    exposed = re.search(r"^EXPOSE (\d+)$", (ROOT / "Dockerfile").read_text(encoding="utf-8"), flags=re.M)[1]
    apps = sorted(name for name, service in services.items() if "build" in service)
    assert [told["DPML_APP"]] == [f"{name}:{exposed}" for name in apps]
    assert str(parser().parse_args([]).port) == exposed
    assert proxy["ports"] == [f"443:{told['DPML_LISTEN']}"]
    assert proxy["healthcheck"]["test"][-1] == f"https://127.0.0.1:{told['DPML_LISTEN']}/health"
    assert set(re.findall(r"\$\{(\w+)\}", TEMPLATE.split("\n\n", 1)[1])) == set(told)
    # what nginx reads is mounted where the environment says
    targets = {volume.rsplit(":", 2)[1] for volume in proxy["volumes"]}
    assert {told["DPML_TLS"], told["DPML_USERS"]} <= targets
    assert set(proxy["depends_on"]) == set(apps)


def test_the_app_has_no_port_of_its_own_no_way_out_and_nothing_to_write_to():
    found = recipe()
    for name, service in found["services"].items():
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["mem_limit"]
        if name == "proxy":
            continue
        assert "ports" not in service
        assert service["networks"] == ["inside"]
        assert all(volume.endswith(":ro") for volume in service["volumes"])
        assert set(service["environment"]) <= {limit.name for limit in LIMITS}
        for limit in LIMITS:
            if limit.name in service["environment"]:
                assert 0 < float(service["environment"][limit.name]) < limit.most
        asked = parser().parse_args([part.replace("${", "$") for part in service["command"]])
        assert asked.proxy
    assert found["networks"]["inside"] == {"internal": True}
    app = found["services"]["app"]
    assert float(app["environment"]["DPML_TABLES_MB"]) < 1000 * float(app["mem_limit"].removesuffix("g"))


def test_options_for_an_identity_provider_are_those_of_panel():
    text = (ROOT / "docs" / "how_to" / "serve.md").read_text(encoding="utf-8")
    named = set(re.findall(r"--(?:oauth|cookie)-[a-z-]+", text))
    assert named >= {"--oauth-provider", "--oauth-key", "--oauth-secret", "--cookie-secret"}
    ended = subprocess.run([sys.executable, "-m", "panel", "serve", "--help"], capture_output=True, text=True)
    assert named <= set(re.findall(r"--[a-z-]+", ended.stdout))


# ---- run by nginx ----------------------------------------------------------------------------------------------------


class Two(Server):
    """Two processes of the app behind the proxy."""

    def __init__(self, origin):
        self.origin = origin
        super().__init__()

    def command(self, port):
        return [
            sys.executable,
            "-m",
            "dpml_app",
            "--port",
            str(port),
            "--processes",
            "2",
            "--proxy",
            "--origin",
            self.origin,
        ]


def configured(folder, port, app):
    """Write the proxy's files as the recipe's container has them, and return the one that nginx starts with."""
    request = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost"
    files = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")]
    subprocess.run([OPENSSL, *request.split(), *files], check=True, capture_output=True)
    (folder / "users").write_text("ada:{PLAIN}lovelace\n", encoding="utf-8")
    told = {
        "DPML_LISTEN": f"127.0.0.1:{port}",
        "DPML_NAME": "localhost",
        "DPML_TLS": folder,
        "DPML_USERS": folder / "users",
        "DPML_APP": f"127.0.0.1:{app}",
    }
    text = re.sub(r"\$\{(DPML_\w+)\}", lambda found: str(told.get(found[1], found[0])), TEMPLATE)
    (folder / "dpml.conf").write_text(text, encoding="utf-8")
    (folder / "nginx.conf").write_text(
        WHOLE.format(folder=folder, user="user root;" if os.geteuid() == 0 else ""), encoding="utf-8"
    )
    return folder / "nginx.conf"


needs_nginx = pytest.mark.skipif(NGINX is None or OPENSSL is None, reason="nginx or openssl is not installed")


@needs_nginx
def test_nginx_takes_the_file(tmp_path):
    ended = subprocess.run([NGINX, "-t", "-c", configured(tmp_path, 8443, 1)], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert "test is successful" in ended.stderr
    assert "[warn]" not in ended.stderr


@pytest.fixture(scope="module")
def proxy(tmp_path_factory):
    """Two processes of the app behind nginx; the address, and what nginx writes."""
    folder, port = tmp_path_factory.mktemp("proxy"), free_port()
    app = Two(f"localhost:{port}")
    log = folder / "log"
    with log.open("wb") as out:
        started = [NGINX, "-c", configured(folder, port, app.port)]
        nginx = subprocess.Popen(started, stdout=out, stderr=subprocess.STDOUT)
    try:
        deadline = time.monotonic() + 60
        while not well(f"https://localhost:{port}/health"):
            assert nginx.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.1)
        yield f"https://localhost:{port}", lambda: log.read_text(encoding="utf-8")
    finally:
        nginx.terminate()
        nginx.wait(30)
        app.stop()
        app.process.wait()


def ask(url, **headers):
    """Return status and headers of an answer; the certificate is the test's own."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), context=context) as answer:
            return answer.status, answer.headers
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers


def well(url):
    try:
        return ask(url)[0] == 200
    except OSError:
        return False


def sessions():
    spec = importlib.util.spec_from_file_location("socket_session", ROOT / "benchmarks" / "socket_session.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@needs_nginx
def test_nobody_comes_in_without_a_password_but_for_the_health_check(proxy):
    base, _log = proxy
    assert ask(f"{base}/app")[0] == ask(f"{base}/app/ws")[0] == ask(f"{base}/")[0] == 401
    assert ask(f"{base}/health")[0] == 200
    wrong = "Basic " + base64.b64encode(b"ada:byron").decode()
    assert ask(f"{base}/app", Authorization=wrong)[0] == 401
    status, headers = ask(f"{base}/app", Authorization=ENTRY)
    assert status == 200
    assert {name: headers[name] for name in HEADERS} == HEADERS
    assert headers["Strict-Transport-Security"]


@needs_nginx
def test_no_session_is_named_and_no_address_made_up_through_it(proxy):
    base, _log = proxy
    for path in ("/app?bokeh-session-id=evil-0", "/app/?bokeh-token=evil-0"):
        assert ask(f"{base}{path}", Authorization=ENTRY)[0] == 403
    for path in ("/app/autoload.js", "/app/metadata"):
        assert ask(f"{base}{path}", Authorization=ENTRY)[0] == 404

    async def visit():
        session = sessions().SocketSession(base, "?page=noise", "noise-state", trusted=False)
        made_up = {"X-Forwarded-For": "192.0.2.1", "X-Real-IP": "192.0.2.1"}
        await session.open(Authorization=ENTRY, Origin=base, **made_up)
        await session.close()
        return session.payload["headers"]

    headers = asyncio.run(visit())
    assert headers["X-Forwarded-For"] == "127.0.0.1"
    assert "X-Real-Ip" not in headers


@needs_nginx
def test_each_session_stays_with_its_process(proxy):
    """Twenty come one after the other, each with its socket, and both processes get some."""
    base, log = proxy
    SocketSession = sessions().SocketSession

    async def visit():
        session = SocketSession(base, "?page=noise&epsilon=0.5", "noise-state", trusted=False)
        try:
            await session.open(Authorization=ENTRY, Origin=base)
            await session.answered(120)
            await session.move("noise_epsilon", 10)
            assert session.faults == []
            return session.payload[STATED]
        finally:
            await session.close()

    async def all_of_them():
        return [await visit() for _ in range(SESSIONS)]

    assert set(asyncio.run(all_of_them())) == {0, 1}
    deadline = time.monotonic() + 60
    while log().count("/app/ws") < SESSIONS and time.monotonic() < deadline:
        time.sleep(0.1)  # a socket's line is written when it closes
    lines = [line.split() for line in log().splitlines() if re.match(r"\d{4}-.*/app", line)]
    # a line of a request has neither the link's settings nor who asks
    assert {len(line) for line in lines} == {4}
    assert {"/app", "/app/ws"} <= {line[3] for line in lines}
