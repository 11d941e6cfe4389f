"""Answers that are light: compressed, what never changes kept by the browser, and scripts and styles as one file each.

`install` is called before a server is made: by ``panel serve app`` through ``app_hooks.py``, and by `serve`.
"""

import gzip
import re
from functools import cache
from pathlib import Path
from typing import Any

from bokeh.server.urls import per_app_patterns, toplevel_patterns
from bokeh.server.views.doc_handler import DocHandler
from bokeh.server.views.multi_root_static_handler import MultiRootStaticHandler
from bokeh.server.views.static_handler import StaticHandler
from bokeh.server.views.ws import WSHandler
from bokeh.settings import settings
from tornado.web import HTTPError, RequestHandler, StaticFileHandler

from dpml_app.compat import send_all, work_out_once
from dpml_app.serving import bundles
from dpml_app.serving.document import QUICK, DocumentInParts, takes_gzip

FOLDER = "static/dpml"
EXTENSIONS = "../extensions"
# what compression makes smaller: fonts and pictures are compressed by themselves
TEXTS = {".css", ".js", ".json", ".map", ".svg"}
YEAR = 31_536_000
# of what is made once
BEST = 9
TYPES = {".js": "text/javascript", ".css": "text/css"}
SCRIPT = re.compile(r'<script[^>]* src="([^"]+)"[^>]*></script>\s*')
STYLE = re.compile(r'<link[^>]* rel="stylesheet"[^>]*>\s*|<link rel="stylesheet"[^>]*>\s*')
ADDRESS = re.compile(r'href="([^"]+)"')
# a script in the page that runs once those before it are there
LATER = re.compile(r'<script type="text/javascript">(?=\s*Bokeh\.)')
# what the server has under a name that says what it holds
_TEXTS: dict[str, str] = {}


@cache
def _file(path: str, _modified: float) -> bytes:
    return gzip.compress(Path(path).read_bytes(), BEST)


@cache
def _text(file: str) -> bytes:
    return gzip.compress(_TEXTS[file].encode(), BEST)


class CompressedFiles(StaticFileHandler):
    """Files that are compressed once, when they are first asked for."""

    async def get(self, path: str, include_body: bool = True) -> None:
        if not include_body or not takes_gzip(self.request) or Path(path).suffix not in TEXTS:
            await super().get(path, include_body)
            return
        self.path = self.parse_url_path(path)
        self.absolute_path = self.validate_absolute_path(self.root, self.get_absolute_path(self.root, self.path))
        if self.absolute_path is None:
            return  # it has been answered
        self.modified = self.get_modified_time()
        self.set_headers()
        self.set_header("Content-Encoding", "gzip")
        self.set_header("Vary", "Accept-Encoding")
        if self.should_return_304():
            self.set_status(304)
            return
        self.finish(_file(self.absolute_path, Path(self.absolute_path).stat().st_mtime))


class BokehFiles(CompressedFiles, StaticHandler):
    """Bokeh's own files."""


class ExtensionFiles(CompressedFiles, MultiRootStaticHandler):
    """Files of what extends Bokeh."""


class HashedFiles(RequestHandler):
    """What the server makes of several files, under a name that changes with them."""

    def get(self, name: str) -> None:
        """Answer with a file, to be kept for ever."""
        if name not in _TEXTS:
            raise HTTPError(404)
        self.set_header("Content-Type", f"{TYPES[Path(name).suffix]}; charset=utf-8")
        self.set_header("Cache-Control", f"public, max-age={YEAR}, immutable")
        self.set_header("Vary", "Accept-Encoding")
        if takes_gzip(self.request):
            self.set_header("Content-Encoding", "gzip")
            self.write(_text(name))
        else:
            self.write(_TEXTS[name])


class CompressedSocket(WSHandler):
    """A socket whose messages are compressed, where the browser agrees."""

    def get_compression_options(self) -> dict[str, Any] | None:
        return super().get_compression_options() or {"compression_level": QUICK}


def install() -> None:
    """Have every server of this process that is made from now on answer so; a second call changes nothing."""
    # Bokeh looks for mistakes in each new document, a tenth of its cost; the tests do that
    settings.perform_document_validation = False
    work_out_once()
    send_all()
    for i, (route, handler, *rest) in enumerate(per_app_patterns):
        for base, mixed in ((DocHandler, DocumentInParts), (WSHandler, CompressedSocket)):
            if issubclass(handler, base) and not issubclass(handler, mixed):
                per_app_patterns[i] = (route, type(handler.__name__, (mixed, handler), {}), *rest)
    own = {MultiRootStaticHandler: ExtensionFiles, StaticHandler: BokehFiles}
    toplevel_patterns[:] = [(route, own.get(handler, handler), *rest) for route, handler, *rest in toplevel_patterns]
    route = rf"/{FOLDER}/([0-9a-f]+\.(?:js|css))"
    if all(pattern[0] != route for pattern in toplevel_patterns):
        toplevel_patterns.insert(0, (route, HashedFiles))


def installed() -> bool:
    """Return whether servers have what `scripts` and `styles` name."""
    return any(pattern[1] is HashedFiles for pattern in toplevel_patterns)


@cache
def scripts(tags: str) -> str:
    """Return what stands in the place of Panel's tags of scripts: one file that no picture waits for."""
    addresses = SCRIPT.findall(tags)
    paths = [bundles.path_of(address) for address in addresses]
    if not installed() or None in paths:
        return tags
    # the page asks for it again as soon as its first picture is painted
    whole = bundles.script(path for path in paths if path is not None)
    name = _keep(f"if (!globalThis.dpmlScripts) {{ globalThis.dpmlScripts = true\n{whole}\n}}", ".js")
    rest = LATER.sub('<script type="module">', SCRIPT.sub("", tags))
    return f'<script defer src="{FOLDER}/{name}"></script>\n{rest}'


@cache
def styles(tags: str) -> str:
    """Return what stands in the place of Panel's tags of styles: one file."""
    links = STYLE.findall(tags)
    paths = [bundles.path_of(ADDRESS.findall(link)[0]) for link in links]
    if not installed() or None in paths:
        return tags
    name = _keep(bundles.style((path for path in paths if path is not None), EXTENSIONS), ".css")
    return f'<link rel="stylesheet" href="{FOLDER}/{name}">\n{STYLE.sub("", tags)}'


def _keep(text: str, suffix: str) -> str:
    name = bundles.hashed(text) + suffix
    _TEXTS[name] = text
    return name
