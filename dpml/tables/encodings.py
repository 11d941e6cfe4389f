"""The encoding of a file of text: detected for a simulation, with a question where several encodings are possible."""

from __future__ import annotations

import codecs
import re
from typing import BinaryIO

from charset_normalizer import from_bytes

from dpml.exceptions import TableUnreadable
from dpml.tables.questions import Questions, Reading
from dpml.tables.text_format import ENCODING_WORDS

BLOCK = 1 << 20
# bytes of lines that are not ASCII, from which an encoding is detected
LOOKED_AT = 1 << 16
# the encoding that is named among those that read a file alike
USUAL = ("cp1252", "cp1250", "cp1251", "gb18030", "shift_jis", "cp932", "big5", "mac_roman", "koi8_r", "cp866")
# a file in two encodings has at least this share of its lines that are not ASCII in UTF-8
LEAST_UTF8 = 0.2
CANDIDATES, CELLS = 4, 3
# characters of a cell that a question shows
SHOWN = 40
# letters and characters that German, French, Spanish, Italian, Portuguese and Scandinavian texts have in Windows-1252
WESTERN = frozenset("äöüßÄÖÜéèêëàâáãçñîïíìôóòõûúùåøæÅØÆÉÈÀÁÂÇÑÓÔÕÚÍÎœ€£°²³µ«»„“”‘’–—…½·¿¡§©® \xa0")
DELIMITED = re.compile(r'[,;\t|"\r\n]+')


def decoder_name(encoding: str) -> str:
    """Return the codec that also leaves out the mark at the start of a file of UTF-8."""
    return "utf-8-sig" if codecs.lookup(encoding).name == "utf-8" else encoding


def has_nul_pattern(first: bytes) -> str | None:
    """Return the UTF-16 without a mark that a file's first bytes look like, or None for another encoding.

    >>> has_nul_pattern("a,b".encode("utf-16-le")), has_nul_pattern(b"a,b")
    ('utf-16-le', None)
    """
    even, odd = first[0::2].count(0), first[1::2].count(0)
    for mine, other, encoding in ((odd, even, "utf-16-le"), (even, odd, "utf-16-be")):
        # the delimiters and ends of lines at least
        if not other and mine >= max(len(first) // 20, 2):
            return encoding
    return None


def read_encoding(file: BinaryIO, name: str, encoding: str | None, questions: Questions) -> str:
    """Return the encoding with which all of a file is text, or raise where it is not. A doubtful one is a question.

    A file that is no UTF-8 and holds no letter of it has another encoding.
    """
    file.seek(0)
    first = file.read(512)
    if encoding is not None or first[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return _check_text(file, name, encoding or "utf-16")
    if (utf16 := has_nul_pattern(first)) is not None:
        return _check_text(file, name, utf16)
    try:
        return _check_text(file, name, "utf-8")
    except TableUnreadable as error:
        cause = error.__cause__
        cut = isinstance(cause, UnicodeDecodeError) and cause.reason == "unexpected end of data"
        if cause is None or cut or _has_utf8_letters(file):
            raise
        for candidate in _likely_encodings(file, questions):
            try:
                return _check_text(file, name, candidate)
            except TableUnreadable:
                continue
        raise error from None


def likely_encoding(file: BinaryIO, name: str, questions: Questions) -> str | None:
    """Return the encoding that `read_encoding` detects, None where the file is no text in any."""
    try:
        return read_encoding(file, name, None, questions)
    except TableUnreadable:
        return None


def _likely_encodings(file: BinaryIO, questions: Questions) -> list[str]:
    """Return the encodings that a file may have, the likeliest first; several are a question."""
    sample = _lines_with_letters(file)
    texts: dict[str, str] = {}
    for match in from_bytes(sample):
        alike = [match.encoding, *match.could_be_from_charset]
        encoding = next((each for each in USUAL if each in alike), match.encoding)
        texts.setdefault(encoding, str(match))
    western = sample.decode("cp1252", "replace")
    if "cp1252" not in texts and "\ufffd" not in western:
        texts["cp1252"] = western
    candidates = sorted(texts, key=lambda encoding: _strange(texts[encoding]))
    if not _is_western(western) and len(candidates) > 1:
        _ask(candidates[:CANDIDATES], texts, questions)
    elif "cp1252" in candidates:
        candidates.remove("cp1252")
        candidates.insert(0, "cp1252")
    return candidates


def _strange(text: str) -> int:
    """Return how many characters of a text stand beside a letter and are none, with those that are not written so."""
    return sum(map(len, re.findall(r"(?<=[^\W\d_])[^\x00-\x7f\w’]+(?=[^\W\d_])|[^\x00-\x7f\w]+(?=[a-z])", text)))


def _is_western(text: str) -> bool:
    """Return whether a text in Windows-1252 has no letter but usual ones, in words that also have ASCII letters."""
    high = [letter for letter in text if letter > "\x7f"]
    words = re.findall(r"[^\W\d_]{3,}", text)
    foreign = [word for word in words if not any(letter.isascii() for letter in word)]
    return set(high) <= WESTERN and not foreign


def _ask(candidates: list[str], texts: dict[str, str], questions: Questions) -> None:
    readings = []
    for encoding in candidates:
        cells = dict.fromkeys(_part(cell) for cell in DELIMITED.split(texts[encoding]) if not cell.isascii())
        some = tuple(list(cells)[:CELLS])
        readings.append(Reading(ENCODING_WORDS.get(encoding, encoding), {"encoding": encoding}, some))
    text = "The file is not in UTF-8, and its encoding is doubtful: which letters are the right ones?"
    questions.ask("encoding", (), text, readings)


def _part(cell: str) -> str:
    """Return the part of a cell around its first letter that is not ASCII."""
    place = next(place for place, letter in enumerate(cell) if not letter.isascii())
    start = max(place - SHOWN // 2, 0)
    return cell[start : start + SHOWN].strip()


def _lines_with_letters(file: BinaryIO) -> bytes:
    """Return lines of a file that are not ASCII, some thousands of bytes of them."""
    file.seek(0)
    lines: dict[bytes, None] = {}
    length = 0
    for line in iter(lambda: file.readline(LOOKED_AT), b""):
        if not line.isascii() and line not in lines:
            lines[line] = None
            length += len(line)
        if length > LOOKED_AT:
            break
    return b"".join(lines)


def _has_utf8_letters(file: BinaryIO) -> bool:
    """Return whether many lines of a file that are not ASCII are UTF-8; two bytes of another encoding may look so."""
    file.seek(0)
    right = wrong = 0
    for line in iter(lambda: file.readline(BLOCK), b""):
        if not line.isascii():
            try:
                right += bool(line.decode("utf-8"))
            except UnicodeDecodeError:
                wrong += 1
    return right > LEAST_UTF8 * (right + wrong)


def _check_text(file: BinaryIO, name: str, encoding: str) -> str:
    file.seek(0)
    decoder = codecs.getincrementaldecoder(decoder_name(encoding))("strict")
    line = 1
    while True:
        block = file.read(BLOCK)
        try:
            text = decoder.decode(block, final=not block)
        except UnicodeError as error:
            if not isinstance(error, UnicodeDecodeError):
                raise TableUnreadable(name, f"it is no text in {encoding}", line=line) from error
            bad, before = error.object[error.start : error.start + 1], error.object[: error.start]
            cause = (
                f"the byte {bad.hex()} is no text in {encoding.upper()}. Save the file as UTF-8, "
                'or say its encoding, such as encoding="cp1252"'
            )
            raise TableUnreadable(name, cause, line=line + before.count(b"\n")) from error
        if "\0" in text:
            at = line + text[: text.index("\0")].count("\n")
            raise TableUnreadable(name, "it holds a NUL character, so it is no text", line=at)
        line += text.count("\n")
        if not block:
            return encoding
