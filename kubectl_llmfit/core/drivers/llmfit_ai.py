"""The driver llmfit.ai (llmfit-dra): publishes memory, memory bandwidth and health itself.

Source: the llmfit-dra project's documentation of its ResourceSlices (attributes
``memoryBandwidthGBs`` int, ``healthy`` bool; capacity ``memory``) and its DeviceClasses.
"""

from __future__ import annotations

from kubectl_llmfit.core.claims.plan import Selector
from kubectl_llmfit.core.sizing.formula import FitBounds

NAME = "llmfit.ai"
DEVICE_CLASSES = ("llmfit.ai", "gpu.llmfit.ai", "npu.llmfit.ai", "cpu.llmfit.ai")


def selector(bounds: FitBounds) -> Selector:
    """The floors in CEL, term for term llmfit's.

    Every look-up is guarded: a missing attribute is a runtime error in CEL, which ends the
    scheduling of the pod instead of passing over the device.
    """
    capacity = f"device.capacity['{NAME}']"
    attributes = f"device.attributes['{NAME}']"
    return Selector(
        (
            f"'memory' in {capacity}",
            f"{capacity}.memory.compareTo(quantity('{bounds.memory_gi}Gi')) >= 0",
            f"'memoryBandwidthGBs' in {attributes}",
            f"{attributes}.memoryBandwidthGBs >= {bounds.min_bandwidth_gbs}",
            f"'healthy' in {attributes}",
            f"{attributes}.healthy",
        )
    )
