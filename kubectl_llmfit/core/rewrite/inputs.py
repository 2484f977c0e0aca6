"""What a decision is made from beside the workload itself: what is known, and what is wished."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kubectl_llmfit.core.claims.objects import V1
from kubectl_llmfit.core.drivers.auto import Published
from kubectl_llmfit.core.engines import ConfigMapReader, nothing_known
from kubectl_llmfit.core.model import Model
from kubectl_llmfit.core.request import Layer, Sourced
from kubectl_llmfit.core.rewrite.held import PATCH, ClaimReader, Maker, no_claims_known

if TYPE_CHECKING:
    from kubectl_llmfit.core.boards import Board


@dataclass(frozen=True)
class Knowledge:
    """What decisions need to know from outside.

    Attributes:
        resolve: a selector → the model, as on a command line; raises ``Refused``.
        exact: a model's exact name → the model, or ``None``.
        boards: the board table, read only when a driver needs it.
        config_maps: a ConfigMap's name → its data, or ``None`` where it can't be read.
        claims: an entry of a pod's resourceClaims → the spec of that claim, or ``None`` where it
            can't be read.
        published: what the cluster's slices publish; ``None`` where that is not known, and the
            legacy names alone tell the driver.
    """

    resolve: Callable[[str], Model]
    exact: Callable[[str], Model | None]
    boards: Callable[[], tuple[Board, ...]]
    config_maps: ConfigMapReader = nothing_known
    claims: ClaimReader = no_claims_known
    published: Published | None = None


@dataclass(frozen=True)
class Wishes:
    """What the command line, or a namespace, asks for beside the workload itself.

    Attributes:
        layer: fields of the request.
        model: the model's selector.
        container: the name of the container that serves it.
        api_version: version of the template.
        namespace: namespace of the template.
        keep_env: leave variables in that can give a container other devices than its claim's.
        defaults: fields that hold where neither the pod nor its engine states them.
        maker: who makes the template.
    """

    layer: Layer
    model: Sourced[str] | None = None
    container: str | None = None
    api_version: str = V1
    namespace: str | None = None
    keep_env: bool = False
    defaults: Layer = field(default_factory=dict)
    maker: Maker = PATCH
