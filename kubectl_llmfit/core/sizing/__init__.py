"""From a model and a target speed to the floors that a device has to meet."""
