"""``POST /mutate``: bounds, then review, verdict, answer, and one log line for it."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from dataclasses import dataclass, field

from aiohttp import web

from kubectl_llmfit.core import reasons
from kubectl_llmfit.core.reasons import Reason
from webhook.observed.logs import fields, write
from webhook.observed.metrics import Metrics
from webhook.reviews.answer import Outcome, Verdict, answer
from webhook.reviews.model import AdmissionRequest, BadReviewError, read_review
from webhook.reviews.mutate import Failed, Mutator

PATH = "/mutate"

_JSON = {"Content-Type": "application/json"}

# The API server says how long it waits, as ``?timeout=10s``.
_TIMEOUT = re.compile(r"([0-9]{1,4})s")
_SHARE = 0.8
"""The share of that time after which no answer is better than a late one."""

_LARGE_REVIEWS = 4
"""As many bytes as so many of the largest reviews may be at hand: an object takes several times as
much memory as its text."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ReviewBounds:
    """Bytes of a review, reviews at hand, seconds for its body to arrive and for an answer."""

    review_bytes: int
    in_flight: int
    patience_s: float
    deadline_s: float


class _Rejected(Exception):
    """There is no review to answer: HTTP ``status``, ``reason``, one sentence."""

    def __init__(self, status: int, sentence: str, reason: Reason = reasons.BAD_REVIEW) -> None:
        super().__init__(sentence)
        self.status = status
        self.reason = reason


_NONE = Verdict(Outcome.FAIL)


@dataclass
class _Account:
    """What the log line and the metrics say of a review in the end."""

    started: float = field(default_factory=time.perf_counter)
    request: AdmissionRequest | None = None
    verdict: Verdict = _NONE
    explanation: str = ""


class Reviews:
    """Answers ``POST /mutate``."""

    def __init__(self, mutator: Mutator, metrics: Metrics, bounds: ReviewBounds) -> None:
        self._mutator = mutator
        self._metrics = metrics
        self._bounds = bounds
        self._in_flight = 0
        self._bytes = 0
        metrics.in_flight.set_function(lambda: self._in_flight)

    async def handle(self, request: web.BaseRequest) -> web.Response:
        """One HTTP request; never raises."""
        if request.path != PATH:
            return _plain(404, f"there is nothing but {PATH} here")
        if request.method != "POST":
            return _plain(405, "send reviews with POST", {"Allow": "POST"})
        account = _Account()
        self._in_flight += 1
        try:
            return await self._reviewed(request, account)
        except _Rejected as rejected:
            outcome = Outcome.REJECT if rejected.status < 500 else Outcome.FAIL
            return _failed(account, outcome, rejected.reason, str(rejected), rejected.status)
        except Failed as failed:
            return _failed(account, Outcome.FAIL, failed.reason, failed.sentence, failed.status)
        except Exception:  # noqa: BLE001 - one bad review must not end the process
            _log.exception("a fault of the webhook itself", extra=_about(account))
            sentence = "a fault of the webhook itself; its log has the details"
            return _failed(account, Outcome.FAIL, reasons.INTERNAL_ERROR, sentence, 500)
        finally:
            self._in_flight -= 1
            self._report(account)

    async def _reviewed(self, request: web.BaseRequest, account: _Account) -> web.Response:
        if self._in_flight > self._bounds.in_flight:
            sentence = f"{self._bounds.in_flight} reviews are at hand already"
            raise _Rejected(503, sentence, reasons.OVERLOADED)
        size = self._size(request)
        if self._bytes + size > _LARGE_REVIEWS * self._bounds.review_bytes:
            raise _Rejected(503, "too many large reviews are at hand", reasons.OVERLOADED)
        self._bytes += size
        try:
            return await self._decided(request, account)
        finally:
            self._bytes -= size

    async def _decided(self, request: web.BaseRequest, account: _Account) -> web.Response:
        body = await self._body(request)
        try:
            review = read_review(body)
        except BadReviewError as error:
            raise _Rejected(400, str(error)) from None
        account.request = review
        # Timers cost as much as all the rest, and only what has to be waited for needs one.
        verdict = self._mutator.at_once(review) or await self._waited_for(request, review, account)
        account.verdict = verdict
        return web.Response(body=answer(review.uid, verdict), headers=_JSON)

    async def _waited_for(
        self, request: web.BaseRequest, review: AdmissionRequest, account: _Account
    ) -> Verdict:
        """The verdict, within the time that there is.

        Raises:
            Failed: nothing can be answered.
            _Rejected: 503, there was no time left.
        """
        remaining = account.started + self._deadline_s(request) - time.perf_counter()
        try:
            async with asyncio.timeout(remaining):
                return await self._mutator.verdict(review)
        except TimeoutError:
            sentence = "there was no time left for an answer"
            raise _Rejected(503, sentence, reasons.OVERLOADED) from None

    def _size(self, request: web.BaseRequest) -> int:
        """How many bytes the body may have, from what the headers say.

        Raises:
            _Rejected: 413, 415.
        """
        if request.content_type != "application/json" or "Content-Encoding" in request.headers:
            raise _Rejected(415, "a review is plain application/json")
        limit = self._bounds.review_bytes
        size = limit if request.content_length is None else request.content_length
        if size > limit:
            raise _too_large(limit)
        return size

    async def _body(self, request: web.BaseRequest) -> bytes:
        """The body, as large and as slow as it may be.

        Raises:
            _Rejected: 408, 413, or 400 for one that ends too early.
        """
        try:
            if request.content.is_eof():
                return self._bounded(request.content.read_nowait())
            async with asyncio.timeout(self._bounds.patience_s):
                return await request.read()
        except TimeoutError:
            sentence = f"the review did not arrive within {self._bounds.patience_s:g} s"
            raise _Rejected(408, sentence) from None
        except web.HTTPRequestEntityTooLarge:
            raise _too_large(self._bounds.review_bytes) from None
        except web.RequestPayloadError:
            raise _Rejected(400, "the body is broken") from None
        except OSError:
            raise _Rejected(400, "the client left before the end of the review") from None

    def _bounded(self, body: bytes) -> bytes:
        if len(body) > self._bounds.review_bytes:
            raise _too_large(self._bounds.review_bytes)
        return body

    def _deadline_s(self, request: web.BaseRequest) -> float:
        stated = _TIMEOUT.fullmatch(request.query.get("timeout", ""))
        allowed = int(stated[1]) * _SHARE if stated else self._bounds.deadline_s
        return min(allowed, self._bounds.deadline_s)

    def _report(self, account: _Account) -> None:
        seconds = time.perf_counter() - account.started
        outcome = account.verdict.outcome
        self._metrics.reviewed(outcome, account.verdict.token, seconds)
        level = _LEVELS.get(outcome, logging.INFO)
        write(_log, level, "review", _about(account, duration_ms=round(seconds * 1000, 3)))


_LEVELS = {Outcome.FAIL: logging.ERROR, Outcome.REJECT: logging.WARNING}


def _too_large(limit: int) -> _Rejected:
    return _Rejected(413, f"the review is larger than {limit} bytes")


def _about(account: _Account, **more: object) -> dict[str, dict[str, object]]:
    request = account.request
    about = fields(
        uid=request.uid if request else "",
        namespace=request.namespace if request else "",
        name=_name(request) if request else "",
        dry_run=(request.dry_run or None) if request else None,
        explanation=account.explanation,
        **more,
    )
    about["fields"] |= account.verdict.said
    return about


def _name(request: AdmissionRequest) -> str:
    """The pod's name, or the start of the one that will be generated."""
    metadata = (request.object or {}).get("metadata")
    given = metadata if isinstance(metadata, dict) else {}
    name = request.name or given.get("name") or given.get("generateName")
    return name if isinstance(name, str) else ""


def _failed(
    account: _Account, outcome: Outcome, reason: Reason, sentence: str, status: int
) -> web.Response:
    account.verdict, account.explanation = Verdict(outcome, reason.token), sentence
    return _plain(status, f"{sentence} ({reason.token})")


def _plain(status: int, text: str, headers: dict[str, str] | None = None) -> web.Response:
    return web.Response(status=status, text=f"{text}\n", headers=headers)
