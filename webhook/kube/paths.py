"""URL paths of API objects, made of parts that may come from outside."""

from __future__ import annotations

import re

from webhook.kube.errors import ApiError

# A DNS subdomain. Namespaces are stricter, which the server sees to; what matters here is that no
# part of a path can leave its place: no slash, no "..", no query.
_NAME = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*")
_NAME_MAX = 253


def path(api_version: str, plural: str, namespace: str = "", name: str = "") -> str:
    """The path of a collection, of its part in ``namespace``, or of the object ``name`` in it.

    Raises:
        ApiError: ``namespace`` or ``name`` is none that an object could have.
    """
    parts = [f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"]
    if namespace:
        parts.append(f"namespaces/{_checked(namespace)}")
    parts.append(plural)
    if name:
        parts.append(_checked(name))
    return "/".join(parts)


def _checked(name: str) -> str:
    if len(name) > _NAME_MAX or not _NAME.fullmatch(name):
        raise ApiError(400, "BadRequest", f"{name[:_NAME_MAX]!r} is no name of a Kubernetes object")
    return name
