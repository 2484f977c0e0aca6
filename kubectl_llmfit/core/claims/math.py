"""The whole sum of a claim, line by line: each number with its unit and its source.

A person has to be able to check it with a pocket calculator, so no number is rounded before the
last step says so.
"""

from __future__ import annotations

from collections.abc import Sequence

from kubectl_llmfit.core.claims.sized import SizedClaim
from kubectl_llmfit.core.reasons import printable
from kubectl_llmfit.core.request import DEFAULT_ORIGIN, ClaimRequest
from kubectl_llmfit.core.sizing.formula import WEIGHTS_HEADROOM, overrides_own
from kubectl_llmfit.core.sizing.quantity import memory_quantity

_MAX_BOARDS = 200


def show_math(sized: SizedClaim, request: ClaimRequest, catalog: str) -> list[str]:
    """Lines of the sum for ``sized``; ``request`` tells origins, ``catalog`` names the catalog."""
    return [
        "",
        "The sum:",
        *_aligned([*_weights(sized, request, catalog), *_memory(sized, catalog)]),
        *_aligned(_bandwidth(sized, request)),
        "Assumed:",
        *(f"  - {line}" for line in _assumptions(sized, request)),
        *_boards(sized),
    ]


def _weights(sized: SizedClaim, request: ClaimRequest, catalog: str) -> list[tuple[str, str, str]]:
    quant = sized.demand.quant
    named_by = request.quant.origin if request.quant else catalog
    parameters = f"{sized.model.parameters}"
    size = f"{quant.bytes_per_parameter!r}"
    return [
        ("parameters", parameters, catalog),
        ("quantization", quant.name, named_by),
        ("bytes per parameter", f"{size} bytes", quant.source),
        (
            "weights",
            f"{parameters} x {size} / 1e9 = {sized.demand.weights_gb!r} GB",
            "GB = 1e9 bytes",
        ),
    ]


def _memory(sized: SizedClaim, catalog: str) -> list[tuple[str, str, str]]:
    weights = f"{sized.demand.weights_gb!r}"
    model = sized.model
    lines: list[tuple[str, str, str]] = []
    if overrides_own(model, sized.demand.quant):
        whole = f"{weights} x {WEIGHTS_HEADROOM!r} = {sized.demand.memory_gb!r} GB"
        why = "headroom for KV cache and runtime; llmfit"
    elif model.min_vram_gb is None and model.min_ram_gb is None:
        whole, why = f"{weights} GB", "the weights; the catalog has no floor"
    else:
        kind = "VRAM" if model.min_vram_gb is not None else "RAM"
        floor = model.min_vram_gb if model.min_vram_gb is not None else model.min_ram_gb
        lines.append((f"{kind} floor", f"{floor!r} GB", f"{catalog}, at its own quantization"))
        whole = f"max({floor!r}, {weights}) = {sized.demand.memory_gb!r} GB"
        why = "never below the weights"
    devices = sized.placement.shards.devices
    floor_text = memory_quantity(sized.floors.memory_bytes)
    share = f"{sized.demand.memory_gb!r}" + (f" / {devices}" if devices > 1 else "")
    return [
        *lines,
        ("memory", whole, why),
        (
            "memory floor",
            f"{share}, rounded up = {floor_text} a device",
            "GB is taken for Gi, as llmfit does",
        ),
    ]


def _bandwidth(sized: SizedClaim, request: ClaimRequest) -> list[tuple[str, str, str]]:
    tps, efficiency = f"{sized.target.min_tps!r}", f"{sized.target.efficiency_pct}"
    whole = f"{sized.demand.bandwidth_gbs!r}"
    tensor = sized.placement.shards.tensor
    share = whole + (f" / {tensor}" if tensor > 1 else "")
    return [
        ("speed", f"{tps} tok/s", request.min_tps.origin),
        ("efficiency", f"{efficiency} %", request.efficiency_pct.origin),
        (
            "bandwidth",
            f"{tps} x {sized.demand.weights_gb!r} x 100 / {efficiency} = {whole} GB/s",
            "each token reads all weights once; llmfit",
        ),
        (
            "bandwidth floor",
            f"{share}, rounded up = {sized.floors.bandwidth_gbs} GB/s a device",
            "GB/s = 1e9 bytes a second",
        ),
    ]


def _assumptions(sized: SizedClaim, request: ClaimRequest) -> list[str]:
    lines = []
    if request.min_tps.origin == DEFAULT_ORIGIN:
        lines.append(f"{sized.target.min_tps:g} tok/s of one stream (--min-tps)")
    if request.efficiency_pct.origin == DEFAULT_ORIGIN:
        lines.append(
            f"the engine reaches {sized.target.efficiency_pct} % of the peak bandwidth "
            "(--efficiency)"
        )
    if request.quant is None:
        lines.append(f"the weights are {sized.demand.quant.name}, as in the catalog (--quant)")
    if sized.placement.count > 1 and request.tensor_parallel is None:
        lines.append(
            f"the engine splits the model over all {sized.placement.shards.devices} devices "
            "(--tensor-parallel)"
        )
    lines.append("context length and concurrent requests are in no number but the headroom")
    if sized.model.is_moe:
        lines.append("every token reads all experts: the floor is above what a MoE model needs")
    return lines


def _boards(sized: SizedClaim) -> list[str]:
    selection = sized.selection
    if not selection.known_boards:
        return [
            f"Boards: driver {sized.driver.name} publishes the bandwidth of each device itself."
        ]
    rows = [
        (
            printable(candidate.board.name) + (f" {candidate.part}" if candidate.part else ""),
            f"{candidate.board.bandwidth_gbs} GB/s",
            candidate.board.source,
        )
        for candidate in selection.candidates[:_MAX_BOARDS]
    ]
    more = len(selection.candidates) - len(rows)
    shown = "the whole board's bandwidth; the device's own capacity decides on memory"
    return [
        f"Boards that meet the bandwidth floor ({shown}):",
        *_aligned(rows),
        *([f"  and {more} more"] if more > 0 else []),
    ]


def _aligned(rows: Sequence[tuple[str, str, str]]) -> list[str]:
    if not rows:
        return []
    first = max(len(row[0]) for row in rows)
    second = max(len(row[1]) for row in rows)
    return [f"  {a.ljust(first)}  {b.ljust(second)}  {c}" for a, b, c in rows]
