"""Check a built site: python docs/check_site.py FOLDER [PAGE ...].

Links and anchors must hold, and no page may load anything from another host: no script, style, font or picture. A link
that a reader may follow to another host is allowed. The pages that are named have pictures of a notebook.
"""

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


class Page(HTMLParser):
    """The anchors of a page, the links on it, and what it loads."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.loads = {""}, [], []
        self.inside = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        """Note one element."""
        self.inside = tag
        found = dict(attrs)
        if found.get("id"):
            self.anchors.add(found["id"])
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
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
    folder, *drawn = map(Path, arguments)
    found = problems(folder)
    texts = {page: (folder / page).read_text(encoding="utf-8") for page in drawn}
    found += [f"{page}: no picture" for page, text in texts.items() if "embed_items" not in text]
    print(
        "\n".join(found)
        or f"{len(list(folder.rglob('*.html')))} pages: links and anchors hold, nothing comes from elsewhere"
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
