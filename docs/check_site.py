"""Check a built site: python docs/check_site.py [--home] FOLDER [PAGE ...].

Links and anchors must hold, and no page may load anything from another host: no script, style, font or picture. A link
that a reader may follow to another host is allowed. The pages that are named have pictures of a notebook. With --home,
the text of the home page leads to the answers of three questions within two clicks, and decision records are absent.
"""

import argparse
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

OTHER_HOST = re.compile(r"^(?:[a-z][a-z0-9+.-]*:)?//", flags=re.I)
LOADED_BY_STYLE = re.compile(r"""(?:@import\s+|url\(\s*)["']?((?:https?:)?//[^"')\s]+)""", flags=re.I)
LOADED_BY_SCRIPT = re.compile(r"""["']((?:https?:)?//[^"'\s]+\.(?:m?js|css|woff2?))""", flags=re.I)
LOADING = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
    "embed": "src",
}
# relations of <link> that make a browser fetch something
FETCHED = {"stylesheet", "preload", "modulepreload", "preconnect", "dns-prefetch", "icon", "manifest", "prefetch"}

# question of a new reader: the page that answers it, and words on this page
ANSWERS = {
    "What is ε?": ("learn/epsilon_delta_and_odds.html", "odds"),
    "How do I release my table?": ("how_to/release.html", "Make a plan"),
    "Which arguments does AutoClassifier take?": ("reference/api/dpml.classifiers.AutoClassifier.html", "Parameters"),
}
CLICKS = 2


class Page(HTMLParser):
    """The anchors of a page, the links on it, and what it loads."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.loads = {""}, [], []
        self.in_article, self.article_links = 0, []
        self.inside = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        """Note one element."""
        self.inside = tag
        found = dict(attrs)
        self.in_article += tag == "article"
        if found.get("id"):
            self.anchors.add(found["id"])
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
            if self.in_article:
                self.article_links.append(found["href"])
        if tag in LOADING and found.get(LOADING[tag]):
            self.loads.append(found[LOADING[tag]])
        if tag == "link" and found.get("href") and FETCHED & set((found.get("rel") or "").lower().split()):
            self.loads.append(found["href"])

    def handle_data(self, data):
        """Note what the text of a script or style would fetch."""
        fetches = {"script": LOADED_BY_SCRIPT, "style": LOADED_BY_STYLE}.get(self.inside)
        if fetches:
            self.loads += fetches.findall(data)

    def handle_endtag(self, tag):
        """Leave a script or style."""
        self.inside = ""
        self.in_article -= tag == "article"


def reached(folder, clicks):
    """Return the pages that links in the text reach from the home page with so many clicks."""
    folder = folder.resolve()
    pages = newest = {folder / "index.html"}
    for _click in range(clicks):
        targets = set()
        for path in newest:
            for link in Page(path.read_text(encoding="utf-8")).article_links:
                address = urldefrag(link)[0]
                if address and not re.match(r"[a-z]+:|//", address):
                    targets.add((path.parent / unquote(address)).resolve())
        newest = {path for path in targets - pages if path.suffix == ".html" and path.is_file()}
        pages = pages | newest
    return {path.relative_to(folder).as_posix() for path in pages}


def home_problems(folder):
    """Return each question that the home page does not answer soon, and each decision record on the site."""
    if not (folder / "index.html").is_file():
        return ["no home page"]
    near, found = reached(folder, CLICKS), []
    for question, (page, words) in ANSWERS.items():
        if page not in near:
            found.append(f"{question} {page} is more than {CLICKS} clicks from the home page")
        elif words not in (folder / page).read_text(encoding="utf-8"):
            found.append(f"{question} {page} does not contain {words!r}")
    index = folder / "searchindex.js"
    records = re.findall(r'"(decisions/[^"]*)"', index.read_text(encoding="utf-8") if index.is_file() else "")
    records += [path.relative_to(folder).as_posix() for path in sorted(folder.glob("decisions/**/*.html"))]
    return found + [f"decision record on the site: {record}" for record in records]


def problems(folder):
    """Return what is wrong, one line each; an empty folder is wrong too."""
    folder = folder.resolve()
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.html"))}
    found = [] if pages else [f"{folder}: no page"]
    for path, page in pages.items():
        name = path.relative_to(folder)
        found += [f"{name}: loads {address} from elsewhere" for address in page.loads if OTHER_HOST.match(address)]
        for link in page.links + page.loads:
            if OTHER_HOST.match(link) or link.startswith(("mailto:", "data:", "javascript:")):
                continue
            address, anchor = urldefrag(link)
            target = (path.parent / unquote(address.partition("?")[0])).resolve() if address else path.resolve()
            if not target.is_file():
                found.append(f"{name}: no file for the link {link}")
            elif target in pages and unquote(anchor) not in pages[target].anchors:
                found.append(f"{name}: no anchor for the link {link}")
    for path in sorted(folder.rglob("*.css")):
        for address in LOADED_BY_STYLE.findall(path.read_text(encoding="utf-8")):
            found.append(f"{path.relative_to(folder)}: loads {address} from elsewhere")
    return found


def main(arguments):
    """Print what is wrong; return 0 if nothing is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("drawn", nargs="*", metavar="PAGE")
    parser.add_argument("--home", action="store_true", help="also check the links of the home page")
    asked = parser.parse_args(arguments)
    folder, drawn = asked.folder, asked.drawn
    found = problems(folder) + (home_problems(folder) if asked.home else [])
    texts = {page: (folder / page).read_text(encoding="utf-8") for page in drawn}
    found += [f"{page}: no picture" for page, text in texts.items() if "embed_items" not in text]
    print(
        "\n".join(found)
        or f"{len(list(folder.rglob('*.html')))} pages: links and anchors hold, nothing comes from elsewhere"
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
