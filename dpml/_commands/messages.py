"""Lines that the command line prints."""

import contextlib
import difflib
import sys
import unicodedata
from collections.abc import Iterable

SPELLED = {"−": "-", "–": "-", "—": "-", "≤": "<=", "≥": ">=", "×": "x", "·": "*", "…": "...", "’": "'", "∞": "inf"}


def printable(text: str) -> str:
    """Return a text with every character that could steer a terminal or turn the order of a line spelt out."""
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text)


def complain(text: str) -> None:
    """Print a line on standard error, if possible."""
    if text and sys.stderr is not None:
        with contextlib.suppress(OSError):
            print(printable(text), file=sys.stderr, flush=True)


def notes(error: BaseException) -> list[str]:
    """Return the notes of an exception, such as the ε that was charged before it."""
    return list(getattr(error, "__notes__", ()))


def spell(error: UnicodeError) -> tuple[str, int]:
    """Spell out what an encoding cannot show: ε as epsilon, é as e, any other character as its escape code."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(ascii_letters_of(character) for character in error.object[error.start : error.end]), error.end


def ascii_letters_of(character: str) -> str:
    """Return the letters that spell a character."""
    if character in SPELLED:
        return SPELLED[character]
    name = unicodedata.name(character, "")
    if name.startswith("GREEK SMALL LETTER") or name.startswith("GREEK CAPITAL LETTER"):
        word = name.split()[3].lower()
        return word.capitalize() if character.isupper() else word
    plain = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
    return plain or character.encode("ascii", "backslashreplace").decode()


def near(name: str, known: Iterable[str]) -> str:
    """Return " (did you mean ...?)" with the known names closest to an unknown one, or an empty string."""
    names = list(dict.fromkeys(known))
    by_lower = {each.lower(): each for each in names}
    near = difflib.get_close_matches(name.lower(), by_lower, n=3, cutoff=0.6)
    return f" (did you mean {' or '.join(repr(by_lower[each]) for each in near)}?)" if near else ""
