"""The ResourceSlices and DeviceClasses that DRA drivers publish, one module a driver.

Every function returns plain API objects (dicts), ready to be created. Each module says
in which files of the driver's source its names and shapes are to be found.
"""

from collections.abc import Sequence

from tests.controlplane.devices import amd, intel, llmfit, nvidia
from tests.controlplane.devices.model import Object


def all_device_classes() -> Sequence[Object]:
    """The DeviceClasses of all drivers, as a fresh installation of each makes them."""
    return [
        *llmfit.device_classes(),
        *nvidia.device_classes(),
        *amd.device_classes(),
        *intel.device_classes(),
    ]
