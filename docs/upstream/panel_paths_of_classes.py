"""Panel 1.9.4 resolves the path of the CSS of every component class again for each session.

`Resources.css_files` asks each class of `panel.reactive.ReactiveCustomBase` for its files, and makes a path of each
with `os.path` calls, although most classes of a package share one file.

Expected output: a time that does not depend on how many classes share a file. Output with Panel 1.9.4 and
panel-material-ui 0.16: tens of milliseconds, about a seventh of the server's work to open a small page.
"""

import time

import panel as pn
import panel_material_ui as pmui
from panel.io.resources import Resources

pn.extension()
pmui.Button(label="loads the package").get_root()
resources = Resources(mode="server")
assert resources.css_files
begun = time.process_time()
for _ in range(100):
    resources.css_files  # noqa: B018
print(f"{10 * (time.process_time() - begun):.1f} ms of processor for each session")
