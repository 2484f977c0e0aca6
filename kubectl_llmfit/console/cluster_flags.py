"""kubectl's global flags: taken by every command that may talk to a cluster, and handed on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

# As `kubectl options` lists them, without -n, which commands describe themselves.
_VALUES = (
    "--as",
    "--as-uid",
    "--as-user-extra",
    "--cache-dir",
    "--certificate-authority",
    "--client-certificate",
    "--client-key",
    "--cluster",
    "--context",
    "--kubeconfig",
    "--kuberc",
    "--log-flush-frequency",
    "--password",
    "--profile",
    "--profile-output",
    "--request-timeout",
    "--tls-server-name",
    "--token",
    "--user",
    "--username",
    "--vmodule",
)
_REPEATED = ("--as-group",)
_SWITCHES = (
    "--disable-compression",
    "--insecure-skip-tls-verify",
    "--match-server-version",
    "--warnings-as-errors",
)
_SHORT = {"-s": "--server", "-v": "--v"}
_PREFIX = "kubectl_"


def kubectl_flags(command: Decorated) -> Decorated:
    """kubectl's global flags, hidden from the help as kubectl hides them."""
    for flag in _VALUES:
        command = click.option(flag, _parameter(flag), hidden=True)(command)
    for flag in _REPEATED:
        command = click.option(flag, _parameter(flag), multiple=True, hidden=True)(command)
    for flag in _SWITCHES:
        command = click.option(flag, _parameter(flag), is_flag=True, hidden=True)(command)
    for short, flag in _SHORT.items():
        command = click.option(short, flag, _parameter(flag), hidden=True)(command)
    return command


def handed_on(ctx: click.Context) -> tuple[str, ...]:
    """The global flags of this command line, as kubectl takes them."""
    flags: list[str] = []
    namespace = ctx.params.get("namespace")
    if namespace:
        flags.append(f"--namespace={namespace}")
    for flag in (*_VALUES, *_REPEATED, *_SWITCHES, *_SHORT.values()):
        value = ctx.params.get(_parameter(flag))
        if value is True:
            flags.append(flag)
        elif isinstance(value, tuple):
            flags += [f"{flag}={each}" for each in value]
        elif value:
            flags.append(f"{flag}={value}")
    return tuple(flags)


def _parameter(flag: str) -> str:
    """click's name of the parameter: prefixed, so that it can't meet a command's own."""
    return _PREFIX + flag.strip("-").replace("-", "_")
