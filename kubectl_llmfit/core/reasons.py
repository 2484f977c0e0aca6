"""Every reason for which kubectl-llmfit refuses to do something: token, meaning, remedy.

A reason's token is stable: the command line, and later logs, metrics, warnings and audit
annotations, show the same one. ``docs/reasons.md`` is made from this module.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Reason:
    """One kind of refusal: a stable ``token``, what it means, and what a user does about it."""

    token: str
    meaning: str
    remedy: str


UNKNOWN_MODEL = Reason(
    "unknown-model",
    "No model of the catalog, or of your own entries, has this name or contains it.",
    "Look for it with `kubectl llmfit models search`, or describe it in a file given with "
    "`--catalog`.",
)
AMBIGUOUS_MODEL = Reason(
    "ambiguous-model",
    "The text is part of several models' names and the exact name of none.",
    "Give the whole name; `kubectl llmfit models search TEXT` lists them all.",
)
UNKNOWN_QUANTIZATION = Reason(
    "unknown-quantization",
    "No size per parameter is known for this quantization, so any memory floor would be a guess.",
    "Give a known one with `--quant`.",
)
INVALID_VALUE = Reason(
    "invalid-value",
    "A flag or field holds a value outside its range or form.",
    "The message names the flag or field and the values it takes.",
)
INVALID_NAME = Reason(
    "invalid-name",
    "The API server would refuse this name, namespace, label or device class.",
    "The message names the rule that it breaks.",
)
DUPLICATE_NAME = Reason(
    "duplicate-name",
    "Two objects of one call would have the same name, so applying them would lose one.",
    "Render them one at a time with `--name`.",
)
UNSIZED_MODEL = Reason(
    "unsized-model",
    "The model's size is not known, or leads to numbers that no device could publish.",
    "Correct the entry in your catalog file.",
)
BAD_CATALOG = Reason(
    "bad-catalog",
    "A catalog file cannot be read, is not YAML, or has entries with wrong fields.",
    "Mend each named entry and field; nothing of the file is used until all are right.",
)
BAD_USAGE = Reason(
    "bad-usage",
    "The command line itself is wrong: an unknown flag, a missing argument, flags that exclude "
    "each other.",
    "See the command's `--help`.",
)
CANNOT_WRITE = Reason(
    "cannot-write",
    "A file or folder that the command has to write cannot be written.",
    "Give another place, or mend the permissions.",
)

UNKNOWN_DRIVER = Reason(
    "unknown-driver",
    "No module knows the DRA driver that was named, so its devices' attributes are not known.",
    "Give one that the message lists, or write the claim by hand.",
)
UNKNOWN_DEVICE_CLASS = Reason(
    "unknown-device-class",
    "The device class is none that a known driver ships, so it does not tell whose devices it "
    "selects.",
    "Say whose they are with `--driver`.",
)
NO_MEMORY_PUBLISHED = Reason(
    "no-memory-published",
    "The driver publishes no memory of its devices, so no selector can hold a memory floor.",
    "Use another driver or class, or write the claim by hand.",
)
NO_BOARD_FITS = Reason(
    "no-board-fits",
    "The driver publishes no bandwidth, and no board of the board table meets the floors.",
    "Ask for less, split the model over more devices, or describe your board with `--boards`.",
)
BAD_BOARDS = Reason(
    "bad-boards",
    "A board file cannot be read, is not YAML, or has entries with wrong fields.",
    "Mend each named entry and field; nothing of the file is used until all are right.",
)
NO_KUBECTL = Reason(
    "no-kubectl",
    "The command talks to the cluster through your kubectl, and there is none to be run.",
    "Install kubectl, or name it in the environment variable KUBECTL.",
)
CLUSTER_UNREACHABLE = Reason(
    "cluster-unreachable",
    "The API server could not be reached, or did not answer in time. Nothing was changed.",
    "Check the cluster, `--context` and `--kubeconfig`; plain `kubectl version` shows the same.",
)
CLUSTER_FORBIDDEN = Reason(
    "cluster-forbidden",
    "The API server does not know you, or does not let you do this.",
    "Log in again, ask for the permission, or use another `--context` or `--as`.",
)
CLUSTER_ERROR = Reason(
    "cluster-error",
    "The API server, or kubectl, refused the request; its own sentence is shown.",
    "What the sentence says.",
)
NO_DRA = Reason(
    "no-dra",
    "The cluster serves no version of resource.k8s.io that claims can be written for.",
    "Use Kubernetes 1.34 or newer, or name the driver and `--api-version` yourself.",
)
NO_DEVICES = Reason(
    "no-devices",
    "No slice of the cluster has a device that a model could be sized for.",
    "Install a DRA driver on the nodes, or name one with `--driver`.",
)
SHARED_DEVICE = Reason(
    "shared-device",
    "The container asks for a share of a GPU, which a claim of whole devices can't stand in for.",
    "Ask for a whole GPU or a MIG partition, or leave the workload as it is.",
)
BAD_QUANTITY = Reason(
    "bad-quantity",
    "The number of devices is no whole number, or none at all.",
    "Write a whole number of devices.",
)
SEVERAL_DRIVERS = Reason(
    "several-drivers",
    "The pod asks for devices of several vendors, and nothing says which to turn into a claim.",
    "Name one with `--driver`; the devices of the others stay as they are.",
)
UNREADABLE_FILE = Reason(
    "unreadable-file",
    "A file or folder cannot be read, holds no manifest, or is no text in UTF-8.",
    "Check the path and its permissions; a folder in a folder needs `-R`.",
)
NOT_A_MANIFEST = Reason(
    "not-a-manifest",
    "A document is not what kubectl takes: no YAML or JSON, or no object. The file's other "
    "documents are not affected.",
    "Mend it where the message says; give a Helm template as `helm template` prints it.",
)
SHARED_YAML = Reason(
    "shared-yaml",
    "The place to be edited is shared through a YAML anchor, alias or merge key, so that other "
    "places would change with it.",
    "Write the value out where it is used, and run the command again.",
)
UNSAFE_EDIT = Reason(
    "unsafe-edit",
    "The document is written in a way that could not be edited and left as it was otherwise.",
    "Make the change by hand, or write that part of the document in another way.",
)
FILE_CHANGED = Reason(
    "file-changed",
    "The file is not as it was when it was read, so writing it would lose the newer change.",
    "Run the command again.",
)
MODEL_NOT_SAID = Reason(
    "model-not-said",
    "Neither a flag, an annotation nor the workload itself says which model it serves.",
    "Name it with `--model` or the annotation `llmfit.ai/model`.",
)
AMBIGUOUS_CONTAINER = Reason(
    "ambiguous-container",
    "Several containers of the pod ask for devices, and nothing tells which serves the model.",
    "Name it with `--container`.",
)
IMMUTABLE_WORKLOAD = Reason(
    "immutable-workload",
    "Kubernetes does not let this kind of object be changed once it is there.",
    "Patch its owner, or its file, and create it anew.",
)
OWNED_WORKLOAD = Reason(
    "owned-workload",
    "Another controller owns the workload and would undo the change.",
    "Patch the owner instead; `--force` patches all the same.",
)
UNKNOWN_KIND = Reason(
    "unknown-kind",
    "The object asks for accelerators, but where its kind keeps its pod templates is not known.",
    "Say it with `--template-path`.",
)
OPTED_OUT = Reason(
    "opted-out",
    'The pod carries the annotation `llmfit.ai/inject: "false"`.',
    "Take the annotation away to have it changed.",
)
NO_LEGACY_DEVICES = Reason(
    "no-legacy-devices",
    "No container asks for an accelerator in its limits or requests, so there is nothing to do.",
    "Nothing; a pod that needs no accelerator is as it should be.",
)
ALREADY_CLAIMED = Reason(
    "already-claimed",
    "The pod holds a generated claim, and no legacy limit stands beside it.",
    "Nothing; it is as `patch` leaves it.",
)
KUSTOMIZE_FAILED = Reason(
    "kustomize-failed",
    "The kustomization in the folder of `-k` cannot be built.",
    "Mend what its own sentence names; `kubectl kustomize DIR` shows it by itself.",
)
DIFF_FAILED = Reason(
    "diff-failed",
    "The program that shows differences could not be run, or failed.",
    "Install `diff`, or name another program in the environment variable KUBECTL_EXTERNAL_DIFF.",
)
NOT_PATCHED = Reason(
    "not-patched",
    "The workload carries no record of a patch, so there is nothing to put back.",
    "Nothing; the record is the annotation `llmfit.ai/undo`, which `patch` writes.",
)
BAD_UNDO_RECORD = Reason(
    "bad-undo-record",
    "The annotation `llmfit.ai/undo` is not as a patch wrote it.",
    "Put the limits back by hand, and take the annotation away.",
)
NOT_ANNOTATED = Reason(
    "not-annotated",
    "The pod reached the webhook without the annotation `llmfit.ai/model`, so nobody asked for it.",
    "Nothing; to have it changed, annotate the pod template.",
)
NOT_A_NEW_POD = Reason(
    "not-a-new-pod",
    "The review is of something else than the creation of a pod, which the webhook lets pass.",
    "Mend the rules of the webhook configuration, which should not send it.",
)
TEMPLATE_REFUSED = Reason(
    "template-refused",
    "The API server refused the ResourceClaimTemplate that the pod needs; its own sentence is "
    "shown.",
    "What the sentence says, such as raising the quota of the namespace.",
)
BAD_REVIEW = Reason(
    "bad-review",
    "What was sent to the webhook is no AdmissionReview of admission.k8s.io/v1, or is too large.",
    "Mend what sends it; an API server's own reviews are of this form.",
)
OVERLOADED = Reason(
    "overloaded",
    "The webhook has as many reviews at hand as it takes, or is out of time for this one.",
    "Let it be tried again; if it stays so, give the webhook more CPU or more replicas.",
)
WEBHOOK_NOT_READY = Reason(
    "webhook-not-ready",
    "The admission webhook did not come up in time. No pod is held up by it.",
    "Mend what the message names, and run `kubectl llmfit webhook install` again; "
    "`kubectl llmfit webhook status` shows what is missing.",
)
INTERNAL_ERROR = Reason(
    "internal-error",
    "A fault of kubectl-llmfit itself. Nothing was done.",
    "Report it with the command line; KUBECTL_LLMFIT_TRACEBACK=1 shows where it happened.",
)

ALL: tuple[Reason, ...] = (
    UNKNOWN_MODEL,
    AMBIGUOUS_MODEL,
    UNKNOWN_QUANTIZATION,
    INVALID_VALUE,
    INVALID_NAME,
    DUPLICATE_NAME,
    UNSIZED_MODEL,
    BAD_CATALOG,
    BAD_USAGE,
    CANNOT_WRITE,
    UNKNOWN_DRIVER,
    UNKNOWN_DEVICE_CLASS,
    NO_MEMORY_PUBLISHED,
    NO_BOARD_FITS,
    BAD_BOARDS,
    NO_KUBECTL,
    CLUSTER_UNREACHABLE,
    CLUSTER_FORBIDDEN,
    CLUSTER_ERROR,
    NO_DRA,
    NO_DEVICES,
    SHARED_DEVICE,
    BAD_QUANTITY,
    SEVERAL_DRIVERS,
    UNREADABLE_FILE,
    NOT_A_MANIFEST,
    SHARED_YAML,
    UNSAFE_EDIT,
    FILE_CHANGED,
    MODEL_NOT_SAID,
    AMBIGUOUS_CONTAINER,
    IMMUTABLE_WORKLOAD,
    OWNED_WORKLOAD,
    UNKNOWN_KIND,
    OPTED_OUT,
    NO_LEGACY_DEVICES,
    ALREADY_CLAIMED,
    KUSTOMIZE_FAILED,
    DIFF_FAILED,
    NOT_PATCHED,
    BAD_UNDO_RECORD,
    NOT_ANNOTATED,
    NOT_A_NEW_POD,
    TEMPLATE_REFUSED,
    BAD_REVIEW,
    OVERLOADED,
    WEBHOOK_NOT_READY,
    INTERNAL_ERROR,
)


@dataclass(frozen=True)
class Problem:
    """One refusal: its reason, and one sentence that says what, where, and what to do."""

    reason: Reason
    sentence: str

    def __str__(self) -> str:
        return f"{printable(self.sentence)} ({self.reason.token})"


class Refused(ValueError):
    """The input can't be used. Holds every problem found, never only the first."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


def refuse(reason: Reason, sentence: str) -> Refused:
    """A ``Refused`` with one problem."""
    return Refused((Problem(reason, sentence),))


def printable(text: str) -> str:
    """``text`` with every character that could break a line or a terminal written as an escape.

    Sentences, YAML comments and log lines quote what users typed; none of it may start a new
    line, move a cursor or hide what follows.
    """
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
        for character in text
    )


def quoted(text: str, limit: int = 120) -> str:
    """``text`` in double quotes for a sentence: printable, and cut when it is very long."""
    shown = text if len(text) <= limit else f"{text[:limit]}..."
    return f'"{printable(shown)}"'
