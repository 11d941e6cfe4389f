"""deploy/nginx.conf in an nginx of this machine, for tests and benchmarks."""

import base64
import os
import re
import shutil
import ssl
import subprocess
import time
import urllib.error
import urllib.request

from app_server import ROOT, free_port

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
OPENSSL = shutil.which("openssl")
CONFIGURATION = (ROOT / "deploy" / "nginx.conf").read_text(encoding="utf-8")
PASSWORD = "Basic " + base64.b64encode(b"ada:lovelace").decode()
PATIENCE = 60.0
# The tests choose the address of a client by a header.
WHOLE = """
{user}
worker_processes 1;
daemon off;
pid {folder}/nginx.pid;
error_log stderr warn;
events {{ worker_connections 1024; }}
http {{
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    set_real_ip_from 127.0.0.1;
    real_ip_header X-Test-Client;
    include {folder}/dpml.conf;
}}
"""
ANYBODY = ssl.create_default_context()
ANYBODY.check_hostname, ANYBODY.verify_mode = False, ssl.CERT_NONE


def configured(folder, port, apps):
    """Write the configuration with the ports and folders of this test, and return nginx's main file."""
    request = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost"
    files = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")]
    subprocess.run([OPENSSL, *request.split(), *files], check=True, capture_output=True)
    (folder / "users").write_text("ada:{PLAIN}lovelace\n", encoding="utf-8")
    text = CONFIGURATION
    for written, replaced in (
        ("listen 8443 ssl;", f"listen 127.0.0.1:{port} ssl;"),
        ("server app:5006;", " ".join(f"server 127.0.0.1:{app};" for app in apps)),
        ("/run/secrets/tls", str(folder)),
        ("/run/secrets/users", str(folder / "users")),
        ("/var/cache/nginx", str(folder / "cache")),
    ):
        assert written in text
        text = text.replace(written, replaced)
    (folder / "cache").mkdir()
    (folder / "dpml.conf").write_text(text, encoding="utf-8")
    user = "user root;" if os.geteuid() == 0 else ""  # its worker reads the test's files
    (folder / "nginx.conf").write_text(WHOLE.format(folder=folder, user=user), encoding="utf-8")
    return folder / "nginx.conf"


class Proxy:
    """An nginx before processes of the app, and what it has logged."""

    def __init__(self, folder, apps, port=None):
        self.port = port or free_port()
        self.url = f"https://localhost:{self.port}"
        self._log = folder / "log"
        with self._log.open("wb") as out:
            command = [NGINX, "-c", configured(folder, self.port, apps)]
            self.process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
        deadline = time.monotonic() + PATIENCE
        while self.ask("/")[0] != 302:
            assert self.process.poll() is None, self._log.read_text()
            assert time.monotonic() < deadline, self._log.read_text()
            time.sleep(0.1)

    def ask(self, path, *, method="GET", **headers):
        """Return status, headers and body of an answer; status 0 before nginx listens."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        request = urllib.request.Request(f"{self.url}{path}", headers=sent, method=method)
        opener = urllib.request.build_opener(urllib.request.HTTPSHandler(context=ANYBODY), NoRedirect)
        try:
            with opener.open(request, timeout=PATIENCE) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.headers, error.read()
        except urllib.error.URLError:
            return 0, {}, b""

    def lines(self):
        """Return time, status, method, path and process of each request."""
        text = self._log.read_text(encoding="utf-8")
        return [line.split() for line in text.splitlines() if re.match(r"\d{4}-\d\d-\d\dT", line)]

    def stop(self):
        self.process.terminate()
        self.process.wait(30)


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_args):
        return None
