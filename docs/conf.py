"""How Sphinx builds the site: sphinx-build -W docs docs/_build/html."""

import json
import os
import re
import shutil
import sys
from pathlib import Path

from bokeh.util.paths import bokehjs_path
from docutils import nodes
from docutils.parsers.rst import roles
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.addnodes import pending_xref
from sphinx.domains.python import PyXRefRole
from sphinx.util import logging

import dpml

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
import write_reference  # noqa: E402

NOTEBOOKS = HERE.parent / "notebooks"

project = "dpml"
version = release = dpml.__version__
copyright = "the dpml contributors"  # noqa: A001 (the name that Sphinx reads)
html_title = "dpml"
html_theme = "furo"
html_show_sphinx = False
html_copy_source = False

extensions = ["sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode", "myst_nb"]
# decision records are for contributors, and stay in the repository
# Two generated files are parts of other pages.
parts = [f"reference/api/{name}.md" for name in ("tasks", "commands")]
exclude_patterns = ["_build", "decisions", *parts, "**.ipynb_checkpoints"]
default_role = "dpml"

# Markdown: a heading is an anchor that links can name
myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3

# DPML_NOTEBOOKS names the notebooks to run: "all", or file names without suffix, separated by commas. The published
# site is built with "all". CI builds one of them, because the tests run the notebooks too. Outputs are cached.
named = os.environ.get("DPML_NOTEBOOKS", "").split(",")
RUN = {path.stem for path in NOTEBOOKS.glob("*.ipynb") if "all" in named or path.stem in named}
nb_execution_mode = "cache"
nb_execution_excludepatterns = [
    f"learn/notebooks/{path.name}" for path in NOTEBOOKS.glob("*.ipynb") if path.stem not in RUN
]
nb_execution_timeout = 600
nb_execution_raise_on_error = True
# what draws the pictures, from this site
html_static_path = [str(bokehjs_path() / "js/bokeh.min.js")]

# Formulas become MathML while the site is built: a page loads no script for them.
html_math_renderer = "mathml"

autodoc_member_order = "bysource"
autodoc_typehints = "none"
napoleon_use_rtype = False
napoleon_use_ivar = True  # attributes stay inside their class

logger = logging.getLogger(__name__)


def copy_notebooks(_app, _config):
    """Put the notebooks where Sphinx reads: it knows no source outside its folder."""
    target = empty_folder("learn/notebooks")
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        # their links lead from notebooks/ to docs/, which is two folders above here
        notebook = json.loads(path.read_text(encoding="utf-8").replace("](../docs/", "](../../"))
        run = f"To run it: `jupyter lab notebooks/{path.name}`, with the extra `notebooks`."
        how = run if path.stem in RUN else f"Shown without outputs. {run}"
        notebook["cells"].insert(1, {"cell_type": "markdown", "id": "how-to-run", "metadata": {}, "source": f"*{how}*"})
        for cell in notebook["cells"]:
            source = "".join(cell["source"])
            if "views.extension()" in source:
                # its output is Bokeh, which the page has. A page has no kernel, so its plots have no sliders
                cell["metadata"]["tags"] = ["remove-output"]
                cell["source"] = source.replace("views.extension()", "views.extension(sliders=False)")
        (target / path.name).write_text(json.dumps(notebook, ensure_ascii=False), encoding="utf-8")


def load_what_draws(app, page, _template, _context, _doctree):
    """Load Bokeh on the pages of notebooks that were run."""
    if page.removeprefix("learn/notebooks/") in RUN:
        app.add_js_file("bokeh.min.js")


def write_api(_app, _config):
    """Write the pages of the reference that come from docstrings and from the help of the commands."""
    write_reference.write(empty_folder("reference/api"))


def empty_folder(name):
    """Return a new folder for pages that are made when the site is built."""
    target = HERE / name
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    return target


def skip_inherited(_app, _what, _name, member, _skip, _options):
    """Leave out the members that estimators inherit from scikit-learn."""
    module = getattr(getattr(member, "fget", member), "__module__", None)
    if module is None:
        return None
    return True if module.partition(".")[0] != "dpml" else None


# code and emphasis, which stay; then characters that markup would take for emphasis, a substitution or a reference
CODE_OR_MARK = re.compile(r"(``.*?``|`[^`]*`|(?<![\w*])\*(?=\w)[^*\n]*[^\s*]\*(?![\w*]))|(\*{1,2}|\||(?<=\w)_(?!\w))")
PARAMETER = re.compile(r"\s*[\w*, ]+ : ")


def escape_prose(_app, _what, _name, _member, _options, lines):
    """Keep stars, bars and final underscores of a docstring's prose as they are; examples are left alone."""
    example = False
    for i, line in enumerate(lines):
        example = line.lstrip().startswith(">>>") or (example and bool(line.strip()))
        if not example and not PARAMETER.match(line):
            lines[i] = CODE_OR_MARK.sub(lambda found: found[1] or "".join("\\" + c for c in found[2]), line)


def link_or_code(name, rawtext, text, lineno, inliner, options=None, content=()):
    """Link `dpml.some.name`; show any other text between backticks as code."""
    if text.startswith("dpml."):
        return PyXRefRole()("py:obj", rawtext, text, lineno, inliner, options or {}, content)
    return [nodes.literal(rawtext, text)], []


def unlink_plain_types(_app, doctree):
    """Show a parameter's type as it is written, unless it names a class: "path" is no `Budget.path`."""
    for link in list(doctree.findall(pending_xref)):
        name = link.get("reftarget", "").rpartition(".")[2]
        if link.get("refdomain") == "py" and link.get("reftype") == "class" and not name[:1].isupper():
            link.replace_self(link.children)


def mathml(translator, node, block):
    """Write one formula; what the converter does not know is a warning, so the build fails."""
    try:
        # the converter wants the dot by its name
        written = tex2mathml(node.astext().replace("·", r"\cdot "), as_block=block)
    except MathError as error:
        logger.warning("cannot convert the formula %r: %s", node.astext(), error, location=node)
        raise nodes.SkipNode from error
    translator.body.append(written)
    raise nodes.SkipNode


def setup(app):
    """Register what stands above."""
    app.connect("config-inited", copy_notebooks)
    app.connect("config-inited", write_api)
    app.connect("html-page-context", load_what_draws)
    app.connect("autodoc-skip-member", skip_inherited)
    app.connect("doctree-read", unlink_plain_types)
    # before napoleon, which adds markup that is meant
    app.connect("autodoc-process-docstring", escape_prose, priority=100)
    roles.register_local_role("dpml", link_or_code)
    app.add_html_math_renderer(
        "mathml",
        (lambda self, node: mathml(self, node, block=False), None),
        (lambda self, node: mathml(self, node, block=True), None),
    )
    return {"parallel_read_safe": True, "parallel_write_safe": True}
