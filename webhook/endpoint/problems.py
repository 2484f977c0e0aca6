"""Everything that goes wrong, as problem+json (RFC 9457) with the status that belongs to it."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Any

from aiohttp import web

from kubectl_llmfit.core import reasons
from kubectl_llmfit.core.reasons import Reason, Refused, printable

MEDIA_TYPE = "application/problem+json"

_log = logging.getLogger(__name__)

# A refusal is a 422 but for these: there the request is sound, and the catalog decides.
_STATUSES: Mapping[Reason, HTTPStatus] = {
    reasons.UNKNOWN_MODEL: HTTPStatus.NOT_FOUND,
    reasons.AMBIGUOUS_MODEL: HTTPStatus.CONFLICT,
}

_DETAILS = {
    HTTPStatus.NOT_FOUND: "No such path; /openapi.json describes those that there are.",
    HTTPStatus.METHOD_NOT_ALLOWED: "The path does not take this method; the header Allow lists "
    "those that it takes.",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "The body is too large.",
}

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def problem(
    status: HTTPStatus,
    detail: str,
    headers: Mapping[str, str] | None = None,
    **members: Any,
) -> web.Response:
    """A problem whose ``type`` is that of the HTTP status."""
    data = {
        "type": "about:blank",
        "title": status.phrase,
        "status": int(status),
        "detail": detail,
        **members,
    }
    return web.Response(
        status=status,
        body=f"{json.dumps(data, indent=4)}\n".encode("ascii"),
        content_type=MEDIA_TYPE,
        headers={"Cache-Control": "no-store", **(headers or {})},
    )


def refusal(refused: Refused) -> web.Response:
    """Every problem of ``refused``, with its token and sentence."""
    statuses = {
        _STATUSES.get(each.reason, HTTPStatus.UNPROCESSABLE_ENTITY) for each in refused.problems
    }
    status = statuses.pop() if len(statuses) == 1 else HTTPStatus.UNPROCESSABLE_ENTITY
    found = [
        {"reason": each.reason.token, "sentence": printable(each.sentence)}
        for each in refused.problems
    ]
    return problem(status, "; ".join(each["sentence"] for each in found), problems=found)


@web.middleware
async def as_problems(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answers what a handler raises; an error of our own is logged and tells nothing more."""
    try:
        return await handler(request)
    except Refused as refused:
        return refusal(refused)
    except web.HTTPException as error:
        status = HTTPStatus(error.status)
        headers = {"Allow": error.headers["Allow"]} if "Allow" in error.headers else {}
        return problem(status, _DETAILS.get(status, status.description), headers)
    except Exception:  # noqa: BLE001 - whatever it is, the client gets an answer
        _log.exception("a request was not answered")
        meaning = reasons.INTERNAL_ERROR.meaning
        sentence = {"reason": reasons.INTERNAL_ERROR.token, "sentence": meaning}
        return problem(HTTPStatus.INTERNAL_SERVER_ERROR, meaning, problems=[sentence])
