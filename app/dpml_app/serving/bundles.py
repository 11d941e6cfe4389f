"""What a browser loads at the start, without what no page of the app uses: scripts and styles, each as one file.

Panel names one script for each of its extensions, and each has all models. Tried with Bokeh 3.9.2 and Panel 1.9.4: a
bundle that is written in another way is kept whole.
"""

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from bokeh.embed.bundle import extension_dirs
from bokeh.settings import settings

# of Panel's models, those that the app's pages are made of; `tests/app/test_light.py` holds it against every page
PANEL_MODELS = frozenset({"BrowserInfo", "Column", "HTML", "ReactComponent", "ReactiveESM"})
# what the pages do without: tables of Bokeh and of Tabulator with its calendar, and drawing by WebGL
UNUSED = ("bokeh-tables", "bokeh-gl", "tabulator", "luxon")
# each first for its own kind: what lists the models of a bundle
INDEXES = {"panel": "models/index", "bokeh-widgets": "models/widgets/index"}
MODULE = re.compile(r'^(?:"?([0-9a-f]+)"?: )?function _\((\w+)', re.MULTILINE)
END = re.compile(r'^[}\]], "?([0-9a-f]+)"?, (\{"[^}]*\}), \{', re.MULTILINE)
ALIAS = re.compile(r'"([^"]+)":"?([0-9a-f]+)"?')
# the app's own components are plain JavaScript and the others come compiled, so no compiler is needed
COMPILED = re.compile(r"\(0,(\w+)\.transform\)\(this\.esm")
IDENTITY = "function _(require, module, exports) { exports.transform = (code) => ({code}) }"
EMPTY = "function _() {}"
FACE = re.compile(r"@font-face\s*\{[^}]*\}")
# signs that every system has in a font of its own
SYSTEM_SIGNS = ("-math-", "-symbols-")


class Bundle(NamedTuple):
    """A bundle's text, taken apart."""

    head: str
    # the code of each module by its key, and how it calls what it requires others by
    modules: dict[str, tuple[str, str]]
    tail: str
    entry: str
    # modules by the names under which other bundles require them
    aliases: dict[str, str]

    def required(self, key: str) -> list[str]:
        """Return what a module requires, each by its name or its key."""
        code, require = self.modules[key]
        calls = re.findall(rf'(?<![\w$.]){re.escape(require)}\((?:"([^"]+)"|(\d+))\)', code)
        return [name or number for name, number in calls]

    def compiler(self, key: str) -> str | None:
        """Return the module by which a module compiles a component's code, None if it compiles nothing."""
        code, require = self.modules[key]
        name = COMPILED.search(code)
        match = name and re.search(rf'\b{name[1]}={require}\("(\w+)"\)', code)
        return match[1] if match else None

    def closure(self, roots: Iterable[str], stubs: set[str]) -> set[str]:
        """Return the modules that some need; the index does without `stubs`."""
        reached: set[str] = set()
        waiting = [self.aliases.get(root, root) for root in roots]
        while waiting:
            key = waiting.pop()
            if key in self.modules and key not in reached and key not in stubs:
                reached.add(key)
                waiting += [self.aliases.get(name, name) for name in self.required(key)]
        return reached


def read(text: str) -> Bundle | None:
    """Take a bundle of Bokeh's own linker apart; None if it is written in another way."""
    starts, ends = list(MODULE.finditer(text)), list(END.finditer(text))
    if not starts or len(ends) != 1 or ends[0].start() < starts[-1].start():
        return None
    stops = [*(start.start() for start in starts[1:]), ends[0].start()]
    modules = {
        start[1] or str(i): (text[start.start() : stop], start[2])
        for i, (start, stop) in enumerate(zip(starts, stops, strict=True))
    }
    head, tail = text[: starts[0].start()], text[ends[0].start() :]
    return Bundle(head, modules, tail, ends[0][1], dict(ALIAS.findall(ends[0][2])))


def slim(bundle: Bundle, index: str, models: frozenset[str], roots: Iterable[str] = ()) -> tuple[str, set[str]]:
    """Return a bundle with some of its models and what they need, and what it requires of other bundles.

    What the index lists besides is left empty, so that its names are there and say nothing.
    """
    at = bundle.aliases[index]
    code, require = bundle.modules[at]
    exported = re.findall(rf'\w\("(\w+)",{re.escape(require)}\("?([0-9a-f]+)"?\)', code)
    wanted = [*(key for name, key in exported if name in models), *roots]
    compilers = {key: IDENTITY for key in map(bundle.compiler, bundle.closure(wanted, set())) if key is not None}
    # what a model needs is kept, though the index lists it, too
    needed = bundle.closure(wanted, set(compilers))
    empty = {key: EMPTY for key in bundle.required(at) if key in bundle.modules and key not in needed}
    stubs = empty | compilers
    kept = bundle.closure([bundle.entry, *wanted], set(stubs))
    codes = {key: code for key, (code, _) in bundle.modules.items() if key in kept}
    codes |= {key: f'"{key}": {stub},\n' for key, stub in stubs.items()}
    outside = {name.removeprefix("@bokehjs/") for key in kept for name in bundle.required(key)}
    return bundle.head + "".join(codes.values()) + bundle.tail, outside - bundle.modules.keys()


def path_of(address: str) -> Path | None:
    """Return the file of a script or style that Bokeh's server has under an address, None if it is no such file."""
    plain = unquote(address.partition("?")[0]).removeprefix("static/")
    if plain.startswith("extensions/"):
        name, _, rest = plain.removeprefix("extensions/").partition("/")
        folder = extension_dirs.get(name)
    else:
        folder, rest = Path(settings.bokehjs_path()), plain
    path = None if folder is None else Path(folder) / rest
    return path if path is not None and path.is_file() else None


def script(paths: Iterable[Path]) -> str:
    """Return what scripts run one after another, without what the pages do not use."""
    texts = {path.name.split(".")[0]: path.read_text(encoding="utf-8") for path in paths}
    texts = {name: text for name, text in texts.items() if name not in UNUSED}
    bundles = {name: read(texts[name]) for name in INDEXES if name in texts}
    panel, widgets = bundles.get("panel"), bundles.get("bokeh-widgets")
    if panel is not None and widgets is not None:
        texts["panel"], outside = slim(panel, INDEXES["panel"], PANEL_MODELS)
        roots = [widgets.aliases[name] for name in outside if name in widgets.aliases]
        texts["bokeh-widgets"], _ = slim(widgets, INDEXES["bokeh-widgets"], frozenset(), roots)
    return "\n;\n".join(texts.values())


def style(paths: Iterable[Path], address: str) -> str:
    """Return styles one after another; what they load stands below an address."""
    whole = []
    for path in paths:
        if "tabulator" not in path.name:
            text = FACE.sub(lambda face: face[0] if _is_used(face[0]) else "", path.read_text(encoding="utf-8"))
            name, folder = next((n, Path(d)) for n, d in extension_dirs.items() if path.is_relative_to(Path(d)))
            below = "/".join([address, name, *path.parent.relative_to(folder).parts])
            whole.append(text.replace('url("./', f'url("{below}/'))
    return "\n".join(whole)


def _is_used(face: str) -> bool:
    """Return whether a page uses a font's face: a face without a range would be loaded for any sign."""
    return "Roboto" not in face or ("unicode-range" in face and not any(sign in face for sign in SYSTEM_SIGNS))


def hashed(text: str) -> str:
    """Return a name that says what a file holds."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]
