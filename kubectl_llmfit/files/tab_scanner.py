"""ruamel.yaml's scanner with kubectl's rules for tabs.

Tabs after a value, before a comment and inside a plain scalar are common in real manifests;
kubectl takes them, the library's own scanner does not. Importing this module loads the library.
"""

from __future__ import annotations

from typing import Any

from ruamel.yaml.scanner import Scanner, ScannerError

_LINE_BREAKS = "\r\n\x85\u2028\u2029"
_ENDS = "\0" + _LINE_BREAKS


class TabScanner(Scanner):
    """Follows the C library that kubectl's reader is a port of, where white space matters."""

    def scan_to_next_token(self) -> Any:
        """Skips white space and comments."""
        reader = self.reader
        while True:
            white = " \t" if self.flow_level or not self.allow_simple_key else " "
            _skip(reader, white)
            if reader.peek() == "#":
                length = 1
                while reader.peek(length) not in _ENDS:
                    length += 1
                reader.forward(length)
            if not self.scan_line_break():
                return
            if not self.flow_level:
                self.allow_simple_key = True

    def scan_plain_spaces(self, indent: Any, start_mark: Any) -> Any:
        """The white space after a word of a plain scalar; None before a document marker."""
        reader = self.reader
        length = 0
        while reader.peek(length) in " \t":
            length += 1
        white = reader.prefix(length)
        reader.forward(length)
        if reader.peek() not in _LINE_BREAKS:
            return [white] if white else []
        first = self.scan_line_break()
        self.allow_simple_key = True
        breaks: list[str] = []
        while True:
            if reader.column == 0 and self._at_marker():
                return None
            character = reader.peek()
            if character == "\t" and reader.column < indent:
                raise ScannerError(
                    "while scanning a plain scalar",
                    start_mark,
                    "found a tab character that violates indentation",
                    reader.get_mark(),
                )
            if character in " \t":
                reader.forward()
            elif character in _LINE_BREAKS:
                breaks.append(self.scan_line_break())
            else:
                break
        if first != "\n":
            return [first, *breaks]
        return breaks or [" "]

    def _at_marker(self) -> bool:
        marker = self.reader.prefix(3) in {"---", "..."}
        return marker and self.reader.peek(3) in " \t" + _ENDS


def _skip(reader: Any, characters: str) -> None:
    length = 0
    while reader.peek(length) in characters:
        length += 1
    if length:
        reader.forward(length)
