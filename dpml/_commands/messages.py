"""Lines that the command line prints."""

import unicodedata

SPELLED = {"−": "-", "–": "-", "—": "-", "≤": "<=", "≥": ">=", "×": "x", "·": "*", "…": "...", "’": "'", "∞": "inf"}


def printable(text: str) -> str:
    """Return a text with every character that could steer a terminal or turn the order of a line spelt out."""
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text)


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
