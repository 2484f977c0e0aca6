"""A container's environment as Kubernetes builds it, each variable with where it was set.

The order of the kubelet (kubernetes/kubernetes pkg/kubelet/kubelet_pods.go, and
third_party/forked/golang/expansion/expand.go): envFrom first, later sources over earlier ones; then
env, later entries over earlier ones; ``$(NAME)`` in a value stands for what is set before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kubectl_llmfit.core.reasons import quoted

ConfigMapReader = Callable[[str], "Mapping[str, str] | None"]
"""A ConfigMap's name → its data; ``None`` when it can't be read here."""


def nothing_known(_name: str) -> Mapping[str, str] | None:
    """The reader for manifests alone: no ConfigMap can be read."""
    return None


LONGEST = 128 * 1024
TOO_LONG = "it becomes longer than a command line can be"


@dataclass(frozen=True)
class Variable:
    """An environment or shell variable.

    Attributes:
        text: its value; ``None`` when it can't be known here.
        origin: where it was set.
        missing: why the value can't be known, as a clause; empty when it is.
        certain: whether it is set at all; False where a source that can't be read may set it.
    """

    text: str | None
    origin: str
    missing: str = ""
    certain: bool = True


class Environment:
    """What variables a command line sees; a change makes a new one."""

    def __init__(
        self, variables: Mapping[str, Variable], unread: tuple[Variable, ...] = ()
    ) -> None:
        self._variables = variables
        self.unread = unread
        """Whole sources (envFrom) that can't be read here and may set anything."""

    def get(self, name: str) -> Variable | None:
        """The variable ``name``; ``None`` when nothing sets it."""
        found = self._variables.get(name)
        if found is not None or not self.unread:
            return found
        sources = " or ".join(source.origin.removeprefix("envFrom ") for source in self.unread)
        origin = self.unread[-1].origin if len(self.unread) == 1 else "envFrom"
        return Variable(None, origin, _may_set(sources), certain=False)

    def with_variables(self, variables: Mapping[str, Variable]) -> Environment:
        """This environment and ``variables`` over it."""
        if not variables:
            return self
        return Environment({**self._variables, **variables}, self.unread)

    def without(self, name: str) -> Environment:
        """This environment with ``name`` unset."""
        kept = {key: variable for key, variable in self._variables.items() if key != name}
        return Environment(kept, self.unread)


class Budget:
    """How much text one container's variables may still become.

    Variables that refer to variables can double their length line by line. Linux takes 128 KiB
    for one argument and 2 MiB for all (execve(2)), so nothing that runs needs more.
    """

    def __init__(self, characters: int = 2 * 1024 * 1024) -> None:
        self.left = characters

    def take(self, text: str) -> bool:
        """Whether ``text`` still fits; takes it off what is left."""
        if len(text) > min(self.left, LONGEST):
            return False
        self.left -= len(text)
        return True


@dataclass(frozen=True)
class Expanded:
    """Text after ``$(NAME)`` was replaced: what it came from and what could not be replaced."""

    text: str
    sources: tuple[str, ...] = ()
    missing: str = ""


def of_container(
    container: Mapping[str, Any], read: ConfigMapReader, budget: Budget
) -> Environment:
    """The environment of ``container``; parts of the wrong type are left out."""
    variables: dict[str, Variable] = {}
    unread: list[Variable] = []
    for source in entries(container.get("envFrom")):
        _add_source(source, read, variables, unread)
    for entry in entries(container.get("env")):
        name = entry.get("name")
        if not isinstance(name, str) or not name:
            continue
        variable = _variable(name, entry, Environment(variables, tuple(unread)), read, budget)
        if variable is None:
            variables.pop(name, None)
        else:
            variables[name] = variable
    return Environment(variables, tuple(unread))


def expand(text: str, environment: Environment, budget: Budget) -> Expanded:
    """``text`` with each ``$(NAME)`` replaced, and ``$$`` read as ``$``, as Kubernetes does.

    A reference to a variable that is not set, or whose value can't be known, stays as it is.
    """
    parts: list[str] = []
    sources: list[str] = []
    missing: list[str] = []
    position = 0
    last = text.rfind(")")
    while position < len(text):
        start = text.find("$", position)
        if start < 0 or start + 1 == len(text):
            parts.append(text[position:])
            break
        parts.append(text[position:start])
        following = text[start + 1]
        end = text.find(")", start) if following == "(" and start < last else -1
        if end < 0:
            # "$$" is an escaped "$"; anything else is no reference and stays.
            parts.append("$" if following == "$" else f"${following}")
            position = start + 2
            continue
        name = text[start + 2 : end]
        variable = environment.get(name)
        if variable is not None and variable.text is not None:
            if not budget.take(variable.text):
                return Expanded(text, missing=TOO_LONG)
            parts.append(variable.text)
            sources.append(variable.origin)
        else:
            parts.append(text[start : end + 1])
            missing.append(why_missing(name, variable))
        position = end + 1
    return Expanded("".join(parts), tuple(dict.fromkeys(sources)), missing[0] if missing else "")


def why_missing(name: str, variable: Variable | None) -> str:
    """Why the value of ``name`` is not known, as a clause."""
    if variable is None:
        return f"nothing in the container sets {quoted(name)}"
    if variable.certain:
        return variable.missing
    return f"{quoted(name)} {variable.missing}"


def listed(sources: Iterable[str]) -> str:
    """The first of ``sources`` in words."""
    first = list(dict.fromkeys(sources))
    return " and ".join([*first[:3], "others"] if len(first) > 3 else first)


def entries(value: object) -> Iterator[Mapping[str, Any]]:
    """The objects of a list that may be null, of another type, or hold other things."""
    if isinstance(value, list):
        for item in value:
            if isinstance(item, dict):
                yield item


def mapping(value: object) -> Mapping[str, Any]:
    """``value`` when it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def _add_source(
    source: Mapping[str, Any],
    read: ConfigMapReader,
    variables: dict[str, Variable],
    unread: list[Variable],
) -> None:
    prefix = source.get("prefix")
    prefix = prefix if isinstance(prefix, str) else ""
    config_map, secret = source.get("configMapRef"), source.get("secretRef")
    name = mapping(config_map).get("name")
    if isinstance(name, str):
        data = read(name)
        if data is None:
            _unread(f"ConfigMap {name}", variables, unread)
            return
        for key, text in data.items():
            origin = f"env {prefix}{key} (ConfigMap {name}, key {key})"
            variables[f"{prefix}{key}"] = Variable(text, origin)
        return
    name = mapping(secret).get("name")
    if isinstance(name, str):
        _unread(f"Secret {name}", variables, unread)


def _may_set(source: str) -> str:
    return f"may be set by {source}, which can't be read here"


def _unread(source: str, variables: dict[str, Variable], unread: list[Variable]) -> None:
    missing = _may_set(source)
    unread.append(Variable(None, f"envFrom {source}", missing, certain=False))
    # It comes later, so it may also set what an earlier source set.
    for name, variable in variables.items():
        variables[name] = Variable(None, variable.origin, missing, certain=False)


def _variable(
    name: str,
    entry: Mapping[str, Any],
    before: Environment,
    read: ConfigMapReader,
    budget: Budget,
) -> Variable | None:
    origin = f"env {name}"
    text = entry.get("value")
    value_from = entry.get("valueFrom")
    if isinstance(text, str) and (text or not value_from):
        expanded = expand(text, before, budget)
        if expanded.missing:
            return Variable(None, origin, expanded.missing)
        # Where those came from in turn is left out: chains of references would tell it all.
        sources = [source.partition(" (from ")[0] for source in expanded.sources]
        via = f" (from {listed(sources)})" if sources else ""
        return Variable(expanded.text, f"{origin}{via}")
    if not isinstance(value_from, dict):
        # "value" may be left out or null; a number is refused by the API server.
        return Variable("", origin) if text is None else None
    return _from_elsewhere(origin, value_from, read)


def _from_elsewhere(
    origin: str, value_from: Mapping[str, Any], read: ConfigMapReader
) -> Variable | None:
    reference = mapping(value_from.get("configMapKeyRef"))
    name, key = reference.get("name"), reference.get("key")
    if isinstance(name, str) and isinstance(key, str):
        where = f"{origin} (ConfigMap {name}, key {key})"
        data = read(name)
        if data is None:
            return Variable(None, where, f"key {key} of ConfigMap {name} can't be read here")
        if key in data:
            return Variable(data[key], where)
        if reference.get("optional") is True:
            return None
        return Variable(None, where, f"ConfigMap {name} has no key {key}")
    reference = mapping(value_from.get("secretKeyRef"))
    name, key = reference.get("name"), reference.get("key")
    if isinstance(name, str) and isinstance(key, str):
        where = f"{origin} (Secret {name}, key {key})"
        return Variable(None, where, f"key {key} of Secret {name} is not read")
    kind = str(next(iter(value_from), "valueFrom"))
    return Variable(None, f"{origin} ({kind})", f"its {kind} is known only once the pod runs")
