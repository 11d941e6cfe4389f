"""Check the style of texts that users read.

Run ``python .ci/style.py [--measure] [--root FOLDER] [PATH ...]``.

The rules are in .ci/style.toml. Each fault is printed with its place and with a replacement. ``--measure`` prints one
row for each class of text instead. A class is a kind of reader's text: README, docs, notebooks, app, and so on.
"""

import argparse
import ast
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import yaml

HERE = Path(__file__).parent
RULES = tomllib.loads((HERE / "style.toml").read_text(encoding="utf-8"))
WORD = re.compile(r"[A-Za-zÀ-ž]+(?:['’-][A-Za-z]+)*")
# code, formulas, addresses, tags and placeholders are not prose
NOT_PROSE = re.compile(
    r"```.*?^ *```|<(style|script|svg|pre)\b.*?</\1>|``.*?``|`[^`\n]*`|\$[^$]*\$|https?://\S+|<[^<>]*>|\{[^{}]*\}|&\w+;",
    re.S | re.M,
)
DOCTEST = re.compile(r"^ *>>> .*\n(?: *\S.*\n?)*", re.M)


class Text(NamedTuple):
    """One text, its class, and its place."""

    kind: str
    path: str
    line: int
    text: str


def prose(text: str) -> str:
    """Return a text without code, formulas, addresses and tags."""
    return NOT_PROSE.sub(" ", DOCTEST.sub("", text))


def markdown(kind: str, path: Path, name: str) -> Iterator[Text]:
    """Yield the paragraphs of a Markdown file."""
    text = re.sub(
        r"^```.*?^```|<!--.*?-->",
        lambda match: "\n" * match[0].count("\n"),
        path.read_text(encoding="utf-8"),
        flags=re.S | re.M,
    )
    line = 1
    for paragraph in re.split(r"(\n{2,})", text):
        if paragraph.strip():
            yield Text(kind, name, line, paragraph)
        line += paragraph.count("\n")


def notebook(kind: str, path: Path, name: str) -> Iterator[Text]:
    """Yield the Markdown cells of a notebook."""
    for number, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"], 1):
        if cell["cell_type"] == "markdown":
            yield Text(kind, f"{name} cell {number}", 0, "".join(cell["source"]))


def yaml_strings(kind: str, path: Path, name: str) -> Iterator[Text]:
    """Yield the strings of a YAML file with their lines."""
    root = yaml.compose(path.read_text(encoding="utf-8"))
    nodes = [root] if root else []
    while nodes:
        node = nodes.pop()
        if isinstance(node, yaml.ScalarNode) and " " in node.value:  # the others are keys
            yield Text(kind, name, node.start_mark.line + 1, node.value)
        elif isinstance(node, yaml.SequenceNode):
            nodes += node.value
        elif isinstance(node, yaml.MappingNode):
            nodes += [value for key, value in node.value if key.value not in RULES["keys_left_out"]]


def joined(node: ast.JoinedStr) -> str:
    """Return an f-string with its values in braces."""
    return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)


def python_strings(kind: str, path: Path, name: str) -> Iterator[Text]:
    """Yield the strings of a module that are sentences or labels: not docstrings, not styles, not keys."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    skipped = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            skipped.add(node.value)
        if isinstance(node, ast.JoinedStr):
            skipped |= {part for part in ast.walk(node) if part is not node}
    for node in ast.walk(tree):
        if node in skipped:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        elif isinstance(node, ast.JoinedStr):
            text = joined(node)
        else:
            continue
        is_style = re.search(r"[{;]\s*[\w-]+: [^;]*;|^\s*[.:#@][\w-]+|var\(--|</?svg", text)
        if " " in text.strip() and len(WORD.findall(prose(text))) >= 2 and not is_style:
            yield Text(kind, name, node.lineno, text)


def docstrings(kind: str, path: Path, name: str) -> Iterator[Text]:
    """Yield the docstrings of a module."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text and not getattr(node, "name", "").startswith("_"):
                yield Text(kind, name, getattr(node, "lineno", 1), text)


READERS = {".md": markdown, ".ipynb": notebook, ".yaml": yaml_strings}


def texts(root: Path) -> Iterator[Text]:
    """Yield all texts of a checkout."""
    for kind, patterns in RULES["texts"].items():
        for pattern in patterns:
            for path in sorted(root.glob(pattern)):
                name = path.relative_to(root).as_posix()
                if any(re.match(left_out, name) for left_out in RULES["left_out"]):
                    continue
                if path.suffix == ".py":
                    yield from (docstrings if kind == "docstrings" else python_strings)(kind, path, name)
                else:
                    yield from READERS[path.suffix](kind, path, name)


def subjects(root: Path) -> list[str]:
    """Return the subjects of the commits since the last tag, or since the first commit that follows the rules."""
    git = ["git", "-c", "safe.directory=*", "-C", str(root)]
    tag = subprocess.run([*git, "describe", "--tags", "--abbrev=0"], capture_output=True, text=True, check=False)
    since = tag.stdout.strip() or RULES["commits"]["since"]
    command = [*git, "log", "--no-merges", "--format=%s", f"{since}..HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()


def allowed(text: Text, phrase: str) -> bool:
    """Tell whether the allow list has a phrase of a file."""
    return any(re.match(place, text.path) and re.search(words, phrase) for place, words in RULES["allow"])


def phrase_faults(text: Text) -> Iterator[str]:
    """Yield a message for each banned phrase of a text."""
    plain = prose(text.text)
    for pattern, instead in RULES["phrases"]:
        for match in re.finditer(pattern, plain):
            if not allowed(text, match[0]):
                yield f"{text.path}:{text.line}: {match[0]!r}: write {instead}"


def caption_faults(text: Text) -> Iterator[str]:
    """Yield a message where a caption is too long."""
    words = len(WORD.findall(prose(text.text)))
    if re.search(RULES["captions"]["files"], text.path) and words > RULES["captions"]["words"]:
        yield f"{text.path}:{text.line}: a caption of {words} words: keep 40, move the rest to docs"


def density(kind_texts: list[Text], pattern: str) -> tuple[float, list[str]]:
    """Return occurrences of a pattern per 1,000 words, and the places."""
    words, places = 0, []
    for text in kind_texts:
        plain = prose(text.text)
        words += len(WORD.findall(plain))
        places += [f"{text.path}:{text.line}: {match[0]!r}" for match in re.finditer(pattern, plain)]
    return 1000 * len(places) / max(words, 1), places


def by_class(root: Path) -> dict[str, list[Text]]:
    """Return the texts of each class."""
    classes: dict[str, list[Text]] = {kind: [] for kind in RULES["texts"]}
    for text in texts(root):
        classes[text.kind].append(text)
    classes["commits"] = [Text("commits", "commit", 0, subject) for subject in subjects(root)]
    return classes


def faults(classes: dict[str, list[Text]], paths: list[str]) -> Iterator[str]:
    """Yield all faults; with paths, those of the texts below them, each density included."""
    for kind, kind_texts in classes.items():
        chosen = [text for text in kind_texts if not paths or any(text.path.startswith(path) for path in paths)]
        for text in chosen:
            yield from phrase_faults(text)
            yield from caption_faults(text)
        for rule in RULES["density"]:
            value, places = density(chosen, rule["pattern"])
            if value > rule["most"] and len(places) > 1:
                yield (
                    f"{kind}: {rule['name']} {value:.1f} per 1,000 words, at most {rule['most']:g}: write "
                    f"{rule['instead']}\n    " + "\n    ".join(places[:200] if paths else places[:20])
                )
    if not paths:
        for text in classes["commits"]:
            if len(text.text) > 72 or not re.fullmatch(RULES["commits"]["subject"], text.text):
                yield f"commit {text.text!r}: write 'area: imperative summary', at most 72 characters, no full stop"


def measure(classes: dict[str, list[Text]]) -> None:
    """Print one row for each class of text."""
    names = [rule["name"] for rule in RULES["density"]]
    print("| class | words |", " | ".join(f"{name} per 1,000" for name in names), "| banned phrases | long captions |")
    print("|---" * (4 + len(names)) + "|")
    for kind, kind_texts in classes.items():
        words = sum(len(WORD.findall(prose(text.text))) for text in kind_texts)
        values = [f"{density(kind_texts, rule['pattern'])[0]:.1f}" for rule in RULES["density"]]
        banned = sum(1 for text in kind_texts for _ in phrase_faults(text))
        captions = sum(1 for text in kind_texts for _ in caption_faults(text))
        print(f"| {kind} | {words:,} |", " | ".join(values), f"| {banned} | {captions} |")


def main() -> int:
    """Check or measure all texts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=HERE.parent)
    parser.add_argument("--measure", action="store_true", help="print one row for each class of text")
    parser.add_argument("paths", nargs="*", help="beginnings of paths that are checked; default: all")
    options = parser.parse_args()
    classes = by_class(options.root)
    if options.measure:
        measure(classes)
        return 0
    messages = list(faults(classes, options.paths))
    print(*messages, sep="\n")
    print(f"{len(messages)} faults of style")
    return bool(messages)


if __name__ == "__main__":
    sys.exit(main())
