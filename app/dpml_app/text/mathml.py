r"""Formulas in a small part of TeX as MathML, which browsers set by themselves: no script, no font, no request.

Known are letters, numbers, signs, ``\frac{}{}``, ``\sqrt{}``, ``\text{}``, ``\mathrm{}``, scripts (``_``, ``^``),
accents (``\hat``, ``\tilde``), and the names in `SYMBOLS`, `OPERATORS` and `NAMES`. Anything else is refused.
"""

import re
from html import escape

from dpml.exceptions import DpmlError, shown

SYMBOLS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "eta": "η", "theta": "θ", "lambda": "λ",
    "sigma": "σ", "tau": "τ", "Delta": "Δ", "Lambda": "Λ", "infty": "∞", "ell": "ℓ", "prime": "′", "nabla": "∇",
}  # fmt: skip
OPERATORS = {
    "cdot": "·", "le": "≤", "ge": "≥", "ne": "≠", "approx": "≈", "propto": "∝", "in": "∈", "pm": "±", "times": "×",
    "mid": "|", "sum": "∑", "prod": "∏", "int": "∫", "cup": "∪", "cap": "∩", "ldots": "…", "to": "→", "colon": ":",
}  # fmt: skip
NAMES = ("Pr", "exp", "ln", "log", "max", "min", "det", "cosh", "arccosh", "Lap")
# what stands above and below, not beside
LIMITS = ("∑", "∏", "max", "min")
ACCENTS = {"hat": "\N{MODIFIER LETTER CIRCUMFLEX ACCENT}", "tilde": "\N{SMALL TILDE}", "bar": "\N{MACRON}"}
SIGNS = {"-": "\N{MINUS SIGN}"}
SPACES = {",": "0.17em", ";": "0.28em", "quad": "1em", " ": "0.25em"}
TOKEN = re.compile(r"\\([A-Za-z]+|[,; {}|])|(\d+(?:[.,]\d+)*)|([A-Za-z])|(\S)")


class InvalidFormula(DpmlError, ValueError):
    """A formula says something that is not known here.

    `allowed`: what is allowed there, in words.
    """

    def __init__(self, formula: str, part: str, allowed: str):
        super().__init__(f"the formula {shown(formula)} has {shown(part)}: it must be {allowed}")


def mathml(formula: str) -> str:
    r"""Return a formula as MathML, with its source as the text for whoever cannot see it.

    Raises
    ------
    InvalidFormula
        For a name that is not known, or a brace without its partner.

    Examples
    --------
    >>> print(mathml(r"e^\epsilon"))
    <math display="block" alttext="e^\epsilon"><mrow><msup><mi>e</mi><mi>ε</mi></msup></mrow></math>
    """
    reader = _Reader(formula)
    inside = reader.row(end=None)
    return f'<math display="block" alttext="{escape(formula)}">{inside}</math>'


class _Reader:
    """Reads a formula once, from left to right."""

    def __init__(self, formula: str):
        self.formula, self.at = formula, 0
        self.tokens: list[tuple[str, str]] = []
        for match in TOKEN.finditer(formula):
            kind = ("name", "number", "letter", "sign")[(match.lastindex or 1) - 1]
            self.tokens.append((kind, match.group(match.lastindex or 1)))

    def row(self, end: str | None) -> str:
        """Return what stands before a closing brace, or before the end."""
        parts: list[str] = []
        while self.at < len(self.tokens):
            if self.tokens[self.at] == ("sign", "}"):
                if end is None:
                    raise InvalidFormula(self.formula, "}", "after the brace that it closes")
                self.at += 1
                return f"<mrow>{''.join(parts)}</mrow>"
            parts.append(self.scripted())
        if end is not None:
            raise InvalidFormula(self.formula, "{", "closed by a brace")
        return f"<mrow>{''.join(parts)}</mrow>"

    def scripted(self) -> str:
        """Return one thing with what stands below and above it."""
        base = self.one()
        scripts = {}
        while self.at < len(self.tokens) and self.tokens[self.at] in (("sign", "_"), ("sign", "^")):
            sign = self.tokens[self.at][1]
            self.at += 1
            scripts[sign] = self.one()
        if not scripts:
            return base
        limits = any(f">{sign}<" in base for sign in LIMITS)
        below, above = ("munder", "mover") if limits else ("msub", "msup")
        if len(scripts) == 2:
            both = "munderover" if limits else "msubsup"
            return f"<{both}>{base}{scripts['_']}{scripts['^']}</{both}>"
        ((sign, script),) = scripts.items()
        name = below if sign == "_" else above
        return f"<{name}>{base}{script}</{name}>"

    def one(self) -> str:
        """Return one thing: a sign, a group, or a name with what it takes."""
        if self.at >= len(self.tokens):
            raise InvalidFormula(self.formula, "its end", "followed by what it takes")
        kind, text = self.tokens[self.at]
        self.at += 1
        if kind == "number":
            return f"<mn>{text}</mn>"
        if kind == "letter":
            return f"<mi>{text}</mi>"
        if kind == "name":
            return self.named(text)
        if text == "{":
            return self.row("}")
        if text in "}_^\\$&#%":
            raise InvalidFormula(self.formula, text, "after what it belongs to")
        return f"<mo>{escape(SIGNS.get(text, text))}</mo>"

    def named(self, name: str) -> str:
        if name in SYMBOLS:
            return f"<mi>{SYMBOLS[name]}</mi>"
        if name in OPERATORS:
            return f"<mo>{OPERATORS[name]}</mo>"
        if name in NAMES:
            return f"<mi>{name}</mi>"
        if name in SPACES:
            return f'<mspace width="{SPACES[name]}"></mspace>'
        if name in ("{", "}", "|"):
            return f"<mo>{'‖' if name == '|' else name}</mo>"
        if name == "frac":
            return f"<mfrac>{self.one()}{self.one()}</mfrac>"
        if name == "sqrt":
            return f"<msqrt>{self.one()}</msqrt>"
        if name in ACCENTS:
            return f'<mover accent="true">{self.one()}<mo>{ACCENTS[name]}</mo></mover>'
        if name in ("text", "mathrm"):
            return self.words("mtext" if name == "text" else "mi")
        known = ", ".join(f"\\{n}" for n in (*SYMBOLS, *OPERATORS, *NAMES, *ACCENTS, "frac", "sqrt", "text", "mathrm"))
        raise InvalidFormula(self.formula, f"\\{name}", f"one of {known}")

    def words(self, element: str) -> str:
        """Return the words between the next two braces as they stand."""
        begun = [m.start() for m in TOKEN.finditer(self.formula)][self.at]
        closed = self.formula.find("}", begun)
        if self.formula[begun] != "{" or closed < 0:
            raise InvalidFormula(self.formula, "words", "between braces")
        words = self.formula[begun + 1 : closed]
        while self.tokens[self.at] != ("sign", "}"):
            self.at += 1
        self.at += 1
        # a space at the end of an element is not shown
        kept = escape(words).replace(" ", "\N{NO-BREAK SPACE}")
        return f"<{element}>{kept}</{element}>"
