"""Every kind of thing that a rewrite changes beside the limits, or cannot change.

Tokens are stable, as those of reasons are. ``docs/consequences.md`` is made from this module.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Effect:
    """One kind of consequence: a stable ``token``, what it means, and what a user does about it."""

    token: str
    meaning: str
    remedy: str


CLAIM_ADDED = Effect(
    "claim-added",
    "The webhook put a claim into the pod in the place of its limits; the numbers are what each "
    "device has at least.",
    "Nothing; other numbers come from annotations of the pod template or the Namespace.",
)
CLAIM_KEPT = Effect(
    "claim-kept",
    "The container has a claim for its devices already: a generated one, beside which an old file "
    "put the limit back, or somebody else's. Only the limit goes out.",
    "Change the file as well, with `kubectl llmfit patch -f`; give somebody else's claim the "
    "model's floors with `kubectl llmfit render`.",
)
OTHER_CLAIM_STAYS = Effect(
    "other-claim-stays",
    "The container refers to a claim that `patch` did not make, and keeps it beside the new one: "
    "what it asks for is not known, is something else, or is less than the limit.",
    "Take one of the two out where both ask for the same devices.",
)
SHARE_BECOMES_WHOLE = Effect(
    "share-becomes-whole",
    "The container had a time-sliced share of a device, and gets a device of its own.",
    "Expect fewer pods on a node; leave the workload as it is with the annotation "
    '`llmfit.ai/inject: "false"` where the share is enough.',
)
QUOTA_KEY_CHANGES = Effect(
    "quota-key-changes",
    "A ResourceQuota on the legacy resource counts limits, and there are none any more.",
    "Add DRA's own key to the quota: `<class>.deviceclass.resource.k8s.io/devices`.",
)
TOLERATION_ADDED = Effect(
    "toleration-added",
    "A cluster with the admission plugin ExtendedResourceToleration adds a toleration to pods that "
    "have the limit, and to no others, so that the pod template gets it itself.",
    "Nothing; the toleration does no harm where no node is tainted so.",
)
NODE_LABEL_SELECTS_DEVICES = Effect(
    "node-label-selects-devices",
    "A nodeSelector names a label that tells of devices. It still decides the node before the "
    "claim does, and a label that a device plugin sets goes when the plugin goes.",
    "Take it out; the claim finds the node.",
)
RUNTIME_CLASS_STAYS = Effect(
    "runtime-class-stays",
    "The pod names a runtimeClass, which drivers that inject devices themselves do not need.",
    "Take it out where your driver's manual says so.",
)
ENVIRONMENT_REMOVED = Effect(
    "environment-removed",
    "A variable of the container could have given it devices that its claim does not hold, or "
    "split up one that it does, and is taken out.",
    "Nothing, or keep it with `--keep-env` or the annotation `llmfit.ai/keep-env`.",
)
ENVIRONMENT_OVERRIDES_CLAIM = Effect(
    "environment-overrides-claim",
    "A variable of the container can give it devices that its claim does not hold, or split up "
    "one that it does, and stays for the reason that the sentence says.",
    "Take the variable out.",
)
PRIVILEGED_SEES_ALL_DEVICES = Effect(
    "privileged-sees-all-devices",
    "A privileged container sees every device of its node, whatever it claims.",
    "Take `privileged` out where the container does not need it.",
)
DEVICES_ARE_MOUNTED = Effect(
    "devices-are-mounted",
    "The container mounts /dev, and with it devices that it does not claim.",
    "Take the mount out; the driver injects what is claimed.",
)
COUNTS_DIFFER = Effect(
    "counts-differ",
    "A container's limit and its request name different counts, which the API server refuses. The "
    "limit is taken.",
    "Check that the limit is what was meant.",
)
ENGINE_NOTE = Effect(
    "engine-note",
    "The container's command line says something that the sizes do not take into account.",
    "What the sentence says.",
)
DEVICES_AND_SHARDS_DIFFER = Effect(
    "devices-and-shards-differ",
    "The container has more or fewer devices than its engine uses.",
    "Set the count or the engine's parallelism to match.",
)
DRIVER_STANDS_IN = Effect(
    "driver-stands-in",
    "The driver of the legacy resource's vendor publishes no device in this cluster, and llmfit.ai "
    "does, so the claim asks for those; they may be another vendor's.",
    "Check that the image runs on them; `--driver` asks for the vendor's all the same.",
)
DEVICE_CLASS_MISSING = Effect(
    "device-class-missing",
    "The cluster has no DeviceClass of the name that the claim asks for.",
    "Install the DRA driver, or make the class; the pods stay pending until then.",
)
NO_DEVICE_FITS = Effect(
    "no-device-fits",
    "On no node do the published devices meet the claim. Slices tell what there is and not what is "
    "free, so that nothing is said where a device that fits is taken.",
    "Ask for less with `--min-tps` or `--quant`, or add a node; the pods stay pending until then.",
)
DEVICE_PLUGIN_BESIDE_DRIVER = Effect(
    "device-plugin-beside-driver",
    "A device plugin and the DRA driver serve the same node. Neither knows what the other gave "
    "away, so that one device can be handed out twice.",
    "Take the device plugin off these nodes once no pod there has such limits.",
)
ALLOCATED_THROUGH_DRA_ALREADY = Effect(
    "allocated-through-dra-already",
    "The cluster makes claims from this limit by itself (extended resources by DRA, KEP-5004), "
    "without the model's floors. The new claim takes its place.",
    "Nothing; where the limit comes back beside the claim, a pod gets two devices.",
)
KUEUE_COUNTS_OTHERWISE = Effect(
    "kueue-counts-otherwise",
    "Kueue admits the workload by quota on the legacy resource, and counts claims by its "
    "`deviceClassMappings` only.",
    "Map the class in Kueue's configuration, and give the queue quota on that name.",
)
AUTOSCALER_IGNORES_CLAIMS = Effect(
    "autoscaler-ignores-claims",
    "Karpenter leaves pods with claims alone unless it is started with "
    "`--ignore-dra-requests=false`, so that none of them brings a node up.",
    "Start Karpenter so, where its provider knows the devices, or keep nodes ready.",
)
MANAGED_ELSEWHERE = Effect(
    "managed-elsewhere",
    "Argo CD, Flux or Helm keeps the workload as its source says, and may put the limit back "
    "beside the claim.",
    "Change the source with `kubectl llmfit patch -f`.",
)
LAST_APPLIED_REMEMBERS_LIMITS = Effect(
    "last-applied-remembers-limits",
    "The workload was made by `kubectl apply`; applying the old file puts the limit back beside "
    "the claim.",
    "Change the file with `kubectl llmfit patch -f`.",
)
ROLLOUT_NEEDS_FREE_DEVICES = Effect(
    "rollout-needs-free-devices",
    "The rolling update starts a new pod before it ends an old one, and so needs a free device.",
    "Set maxSurge to 0 and maxUnavailable to 1 where there is none.",
)
GONE_SINCE = Effect(
    "gone-since",
    "A container or another place that `patch` took something out of is no longer there.",
    "Nothing, unless the container has another name now: set its limit by hand then.",
)
CHANGED_SINCE = Effect(
    "changed-since",
    "Somebody set a value anew since `patch` changed it, and `restore` leaves it so.",
    "Check that it is what is wanted beside the limit.",
)
CLAIM_STILL_USED = Effect(
    "claim-still-used",
    "A container that was added since the patch refers to the pod's claim, which therefore stays.",
    "Take its reference out and run `restore` again, or keep both.",
)

ALL = (
    CLAIM_ADDED,
    CLAIM_KEPT,
    OTHER_CLAIM_STAYS,
    SHARE_BECOMES_WHOLE,
    QUOTA_KEY_CHANGES,
    TOLERATION_ADDED,
    NODE_LABEL_SELECTS_DEVICES,
    RUNTIME_CLASS_STAYS,
    ENVIRONMENT_REMOVED,
    ENVIRONMENT_OVERRIDES_CLAIM,
    PRIVILEGED_SEES_ALL_DEVICES,
    DEVICES_ARE_MOUNTED,
    COUNTS_DIFFER,
    ENGINE_NOTE,
    DEVICES_AND_SHARDS_DIFFER,
    DRIVER_STANDS_IN,
    DEVICE_CLASS_MISSING,
    NO_DEVICE_FITS,
    DEVICE_PLUGIN_BESIDE_DRIVER,
    ALLOCATED_THROUGH_DRA_ALREADY,
    KUEUE_COUNTS_OTHERWISE,
    AUTOSCALER_IGNORES_CLAIMS,
    MANAGED_ELSEWHERE,
    LAST_APPLIED_REMEMBERS_LIMITS,
    ROLLOUT_NEEDS_FREE_DEVICES,
    GONE_SINCE,
    CHANGED_SINCE,
    CLAIM_STILL_USED,
)
"""In the order of the docs: what the pod brings, what the cluster does, what restore finds."""
