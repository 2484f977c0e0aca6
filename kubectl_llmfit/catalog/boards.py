"""The board table: the shipped one and users' own boards over it.

The shipped table is JSON, one board a line, each with the public source of its bandwidth. It is
read only for drivers that publish no bandwidth.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

from kubectl_llmfit.catalog.entries import Field, Form, Kind, read_files
from kubectl_llmfit.catalog.userfiles import user_file
from kubectl_llmfit.core import drivers, reasons
from kubectl_llmfit.core.boards import Board, Profile
from kubectl_llmfit.core.sizing.quantity import GI, MI

PATH = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data/boards.json")
CONFIG_FILE = "boards.yaml"


def _own_board(values: dict[str, Any]) -> Board:
    driver = drivers.BY_NAME.get(values["driver"])
    if driver is None or not driver.uses_boards:
        known = ", ".join(each.name for each in drivers.DRIVERS if each.uses_boards)
        message = f"driver must be one of {known}"
        raise ValueError(message)
    memory_bytes = int(values["memory_gi"] * GI)
    return Board(
        driver=values["driver"],
        name=values["name"],
        bandwidth_gbs=values["bandwidth_gbs"],
        source=values.get("source", "your own board file"),
        memory_bytes=memory_bytes,
        ids=values.get("ids", ()),
        memory_slices=values.get("memory_slices"),
    )


FORM: Form[Board] = Form(
    key="boards",
    reason=reasons.BAD_BOARDS,
    fields=(
        Field("driver", "driver", Kind.TEXT, required=True),
        Field("name", "name", Kind.TEXT, required=True),
        Field("bandwidthGBs", "bandwidth_gbs", Kind.COUNT, required=True),
        Field("memoryGi", "memory_gi", Kind.NUMBER, required=True),
        Field("memorySlices", "memory_slices", Kind.COUNT),
        Field("ids", "ids", Kind.TEXTS),
        Field("source", "source", Kind.TEXT),
    ),
    build=_own_board,
    identity=lambda board: f"{board.driver}/{board.name}",
)


def load_boards(files: Sequence[str] = ()) -> tuple[Board, ...]:
    """The shipped boards under those of the user's config file and of ``files``, the last winning.

    Raises:
        Refused: ``bad-boards``, every file, entry and field that is wrong.
    """
    boards = {FORM.identity(board): board for board in _shipped()}
    config = user_file(CONFIG_FILE)
    paths = [*([config] if config is not None else []), *files]
    boards.update({FORM.identity(board): board for board in read_files(FORM, paths)})
    return tuple(boards.values())


def _shipped() -> list[Board]:
    with open(PATH, encoding="utf-8") as file:
        return [_board(entry) for entry in json.load(file)["boards"]]


def _board(entry: dict[str, Any]) -> Board:
    memory_mib = entry.get("memoryMiB")
    return Board(
        driver=entry["driver"],
        name=entry["productName"],
        bandwidth_gbs=entry["bandwidthGBs"],
        source=entry["source"],
        memory_bytes=None if memory_mib is None else memory_mib * MI,
        name_published=entry.get("attribute") != "deviceID",
        ids=tuple(entry.get("deviceIDs", entry.get("pciIDs", ()))),
        memory_slices=entry.get("memorySlices"),
        profiles=tuple(_profile(each) for each in entry.get("mig", ())),
        partitions=tuple(each["parts"] for each in entry.get("partitions", ())),
    )


def _profile(entry: dict[str, Any]) -> Profile:
    memory_mib = entry.get("memoryMiB")
    return Profile(
        entry["profile"], entry["memorySlices"], None if memory_mib is None else memory_mib * MI
    )
