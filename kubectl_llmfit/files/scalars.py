"""What a YAML scalar means to Kubernetes: the rules of kubectl's YAML reader, not of YAML 1.2.

They are YAML 1.1's in part (``yes`` and ``0755``), without its numbers of base 60.
"""

from __future__ import annotations

import base64
import binascii
import math
import re

_WORDS: dict[str, bool | None] = (
    dict.fromkeys(("", "~", "null", "Null", "NULL"))
    | dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE"), True)
    | dict.fromkeys(("on", "On", "ON"), True)
    | dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE"), False)
    | dict.fromkeys(("off", "Off", "OFF"), False)
)
_NOT_FINITE_RE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_MAY_BE_NUMBER_RE = re.compile(r"[-+.0-9]")
_INTEGER_RE = re.compile(
    r"([-+]?)(?:0[xX](?P<x>[0-9a-fA-F]+)|0[bB](?P<b>[01]+)|0[oO]?(?P<o>[0-7]+)|(?P<d>0|[1-9][0-9]*))"
)
_BASES = {"x": 16, "b": 2, "o": 8, "d": 10}
_FLOAT_RE = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
# Behind a leading dot an underscore stands between digits only; elsewhere anywhere.
_DOT_FLOAT_RE = re.compile(r"\.[0-9](_?[0-9])*([eE][-+]?[0-9](_?[0-9])*)?")
_INT64 = range(-(2**63), 2**63)
_TAG_PREFIX = "tag:yaml.org,2002:"
_TYPES: dict[str, tuple[type, ...]] = {
    "null": (type(None),),
    "bool": (bool,),
    "int": (int,),
    "float": (int, float),
}

Scalar = str | bool | int | float | None


def plain(text: str) -> Scalar:
    """What the plain (unquoted) scalar ``text`` is.

    Raises:
        ValueError: it is infinite or no number, which no Kubernetes object can hold.
    """
    if text in _WORDS:
        return _WORDS[text]
    if not _MAY_BE_NUMBER_RE.match(text):
        return text
    if _NOT_FINITE_RE.fullmatch(text):
        raise ValueError(f"{text} is a number that Kubernetes cannot hold")
    number = _number(text)
    return text if number is None else number


def tagged(text: str, tag: str, is_plain: bool) -> Scalar:
    """What ``text`` is behind ``tag``, which is written out in full.

    Raises:
        ValueError: it is not what the tag says.
    """
    name = tag.removeprefix(_TAG_PREFIX)
    if name == "binary":
        try:
            return base64.b64decode(text, validate=False).decode()
        except (binascii.Error, UnicodeDecodeError):
            raise ValueError("a !!binary value is not text in base64") from None
    if name not in _TYPES:
        return text
    value = plain(text) if is_plain or name != "null" else text
    if not isinstance(value, _TYPES[name]) or (isinstance(value, bool) and name != "bool"):
        raise ValueError(f"a value is not what its tag !!{name} says")
    return value


def key(value: Scalar) -> str:
    """A mapping's key as JSON has it, always text.

    Raises:
        ValueError: null is no key.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        raise ValueError("a key is null")
    return f"{value:g}" if isinstance(value, float) else str(value)


def normal(number: float) -> int | float:
    """``number`` as it comes back from JSON: whole numbers are integers."""
    if not number.is_integer() or abs(number) >= 1e19:
        return number
    # JSON has the shortest digits that mean this number, which from 2**53 on are not all of it.
    digits, _, exponent = repr(number).partition("e")
    whole, _, fraction = digits.partition(".")
    integer = int(whole + fraction) * 10 ** (int(exponent or 0)) // 10 ** len(fraction)
    return integer if integer in _INT64 else number


def _number(text: str) -> int | float | None:
    if text[0] == ".":
        if not _DOT_FLOAT_RE.fullmatch(text):
            return None
        return _float(text.replace("_", ""))
    digits = text.replace("_", "")
    integer = _INTEGER_RE.fullmatch(digits)
    if integer:
        name = str(integer.lastgroup)
        value = int(integer[1] + integer[name], _BASES[name])
        if value in _INT64:
            return value
        if 0 <= value < 2**64:
            return float(value)
    return _float(digits) if _FLOAT_RE.fullmatch(digits) else None


def _float(digits: str) -> int | float | None:
    number = float(digits)
    return None if math.isinf(number) else normal(number)
