"""Requests to the API server: reads with paging, server-side apply, patch, dry-run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from kubectl_llmfit.cluster.kubectl import ApiError, Kubectl
from kubectl_llmfit.core.reasons import Problem, Refused

FIELD_MANAGER = "kubectl-llmfit"
PAGE_SIZE = 500

NO_DRY_RUN, CLIENT, SERVER = "none", "client", "server"
DRY_RUNS = (NO_DRY_RUN, CLIENT, SERVER)

Object = dict[str, Any]


class Api:
    """The API server's objects as plain dicts.

    Every method raises ``ApiError`` with the server's own sentence, or ``Refused``.
    """

    def __init__(self, kubectl: Kubectl) -> None:
        self._kubectl = kubectl

    def get(self, path: str, query: Mapping[str, str] | None = None) -> Object:
        """What the server answers to GET ``path``."""
        url = f"{path}?{urlencode(query)}" if query else path
        answer: Object = json.loads(self._kubectl.run(["get", f"--raw={url}"]))
        return answer

    def list_all(self, path: str) -> list[Object]:
        """Every item of the collection at ``path``, read in pages.

        A page's token is good for some minutes; when it has expired the list is read once more.
        """
        try:
            return self._pages(path)
        except ApiError as error:
            if error.status != "Expired":
                raise
            return self._pages(path)

    def read(self, target: str, *arguments: str) -> list[Object]:
        """Objects by ``TYPE/NAME``, or of ``TYPE`` with ``arguments`` that select, as kubectl's."""
        found: Object = json.loads(self._kubectl.run(["get", target, *arguments, "--output=json"]))
        return _items(found)

    def read_kinds(self, kinds: Sequence[str]) -> tuple[list[Object], tuple[Problem, ...]]:
        """All objects of the whole cluster's ``kinds`` that may be read, and why others may not.

        One call of kubectl. A kind that the server does not serve, by its name or in the version
        that this asks for, is an ``ApiError`` of status ``NO_SUCH_TYPE``.
        """
        try:
            return self.read(",".join(kinds)), ()
        except ApiError as error:
            if error.status != "Forbidden" or not error.output:
                raise
            found: Object = json.loads(error.output)
            return found.get("items") or [], error.problems

    def apply(
        self, item: Object, *, field_manager: str = FIELD_MANAGER, dry_run: bool = False
    ) -> Object:
        """``item`` created or updated by server-side apply; what the server made of it."""
        # Server-side apply refuses unknown fields by itself; kubectl's own check of them would
        # fetch the schema first.
        arguments = ["apply", "--server-side", "--validate=false", "-f", "-"]
        arguments.append(f"--field-manager={field_manager}")
        return self._write(arguments, dry_run, stdin=json.dumps(item))

    def apply_all(
        self,
        items: Sequence[Object],
        *,
        field_manager: str = FIELD_MANAGER,
        dry_run: bool = False,
        force_conflicts: bool = False,
    ) -> list[Object]:
        """``items`` by server-side apply in their order, by one call; what the server made of them.

        One that is refused stops none of the others; what was refused is the error.
        """
        arguments = ["apply", "--server-side", f"--field-manager={field_manager}", "-f", "-"]
        if force_conflicts:
            arguments.append("--force-conflicts")
        return _items(self._write(arguments, dry_run, stdin=_stream(items)))

    def create(self, item: Object, *, dry_run: bool = False) -> Object:
        """``item`` created; what the server made of it."""
        return self._write(["create", "-f", "-"], dry_run, stdin=json.dumps(item))

    def delete_all(self, items: Sequence[Object], *, dry_run: bool = False) -> list[str]:
        """Deletes those of ``items`` that are there, by one call that waits for no finalizer.

        The names of those that were, as kubectl prints them.
        """
        mode = ["--dry-run=server"] if dry_run else []
        arguments = ["delete", "--ignore-not-found", "--wait=false", "--output=name", *mode]
        return self._kubectl.run([*arguments, "-f", "-"], _stream(items)).split()

    def serves(self, api_version: str) -> bool:
        """Whether the server has ``api_version``, a group with its version or ``v1``."""
        try:
            self.get(f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}")
        except ApiError as error:
            if error.status != "NotFound":
                raise
            return False
        return True

    def find(self, path: str) -> Object | None:
        """What the server answers to GET ``path``; ``None`` where there is nothing."""
        try:
            return self.get(path)
        except ApiError as error:
            if error.status != "NotFound":
                raise
            return None

    def patch(
        self,
        target: str,
        operations: Sequence[Mapping[str, Any]],
        *,
        namespace: str | None = None,
        field_manager: str = FIELD_MANAGER,
        dry_run: bool = False,
    ) -> Object:
        """A JSON patch of ``target`` (TYPE/NAME); all of ``operations`` or none."""
        arguments = ["patch", target, "--type=json", f"--field-manager={field_manager}"]
        arguments.append(f"--patch={json.dumps(list(operations))}")
        if namespace is not None:
            arguments.append(f"--namespace={namespace}")
        return self._write(arguments, dry_run)

    def delete(self, item: Object, resource: str) -> None:
        """Deletes ``item``, of the type ``resource``, if it is still the very one that was read."""
        metadata = item["metadata"]
        namespace = f"namespaces/{metadata['namespace']}/" if "namespace" in metadata else ""
        root = "apis" if "/" in item["apiVersion"] else "api"
        path = f"/{root}/{item['apiVersion']}/{namespace}{resource}/{metadata['name']}"
        same = {"uid": metadata["uid"], "resourceVersion": metadata["resourceVersion"]}
        options = {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": same}
        self._kubectl.run(["delete", f"--raw={path}", "--filename=-"], json.dumps(options))

    def _write(self, arguments: Sequence[str], dry_run: bool, stdin: str | None = None) -> Object:
        mode = ["--dry-run=server"] if dry_run else []
        written: Object = json.loads(self._kubectl.run([*arguments, *mode, "--output=json"], stdin))
        return written

    def _pages(self, path: str) -> list[Object]:
        items: list[Object] = []
        query = {"limit": str(PAGE_SIZE)}
        while True:
            page = self.get(path, query)
            items += page.get("items") or []
            token = (page.get("metadata") or {}).get("continue")
            if not token:
                return items
            query["continue"] = token


def _stream(items: Sequence[Object]) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": list(items)})


def _items(found: Object) -> list[Object]:
    items: list[Object] = found["items"] if found.get("kind") == "List" else [found]
    return items


def read_targets(
    api: Api, targets: Sequence[tuple[str, ...]]
) -> tuple[list[Object], list[Problem]]:
    """The objects of ``targets`` (each the words behind ``kubectl get``), and what was not read."""
    found: list[Object] = []
    problems: list[Problem] = []
    for target in targets:
        try:
            found += api.read(*target)
        except Refused as refused:
            problems += refused.problems
    return found, problems
