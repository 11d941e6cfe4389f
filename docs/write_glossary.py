"""Write the app's glossary and its help for controls into docs/reference/glossary.md: python docs/write_glossary.py."""

import sys
import textwrap
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "app"))

from dpml_app.state import Settings  # noqa: E402
from dpml_app.text.formulas import formulas, mathml  # noqa: E402
from dpml_app.text.glossary import glossary, help_for  # noqa: E402

PAGE = HERE / "reference" / "glossary.md"
HEAD = """# Glossary

The app and this site use the terms as defined here. In the app, click a dotted term to open its entry with a small
picture. `python docs/write_glossary.py` generates this page from three files in `app/dpml_app/text`: `glossary.yaml`,
`glossary_help.yaml` and `formulas.yaml`.

```{glossary}
:sorted:

"""
CONTROLS = """
## Effect of each control

The app shows the same texts beside its controls. The first column is the name of a setting in a link.

| setting | control | effect |
|---|---|---|
"""
FORMULAS = """
## Formulas

The captions of the app show these formulas beside the plots that they describe.
"""


def entry(term):
    """Return a term as the site's directive takes it."""
    says = f"{term.says} ({term.source[0].upper()}{term.source[1:]}.)" if term.source else term.says
    return f"{term.term}\n" + textwrap.fill(says, 146, initial_indent="  ", subsequent_indent="  ")


def set_formulas():
    """Return all formulas as the browser sets them, which asks no other host."""
    made = [f"{one.title}: {one.says} Source: {one.source}.\n\n<p>{mathml(one.tex)}</p>" for one in formulas().values()]
    return FORMULAS + "\n" + "\n\n".join(made) + "\n"


def page():
    """Return the page's text."""
    terms = sorted(glossary().values(), key=lambda term: term.term.lower())
    rows = [f"| `{name}` | {Settings.param[name].label} | {help_for(name)} |" for name in Settings.names()]
    return (
        HEAD
        + "\n\n".join(entry(term) for term in terms)
        + "\n```\n"
        + CONTROLS
        + "\n".join(rows)
        + "\n"
        + set_formulas()
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
