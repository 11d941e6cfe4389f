"""Compute all figures that the lessons name, for the app to ship: ``python -m dpml_app.lessons``."""

import json
import sys

from dpml_app.lessons import figures, lessons

if __name__ == "__main__":
    figures.KNOWN.clear()
    lessons.cache_clear()
    lessons()
    shipped = {key: dict(sorted(named.items())) for key, named in sorted(figures.KNOWN.items()) if named}
    figures.FILE.write_text(json.dumps(shipped, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    sys.stdout.write(f"{figures.FILE}: {sum(map(len, shipped.values()))} figures\n")
