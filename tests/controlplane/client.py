"""A small JSON client for the Kubernetes API: any kind, by apiVersion and kind."""

import json
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx

Object = dict[str, Any]

PATCH_TYPES = {
    "merge": "application/merge-patch+json",
    "json": "application/json-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",
}


class ApiError(Exception):
    """The API server refused; ``status`` is its Status object, ``code`` the HTTP code."""

    def __init__(self, code: int, status: Object) -> None:
        super().__init__(f"{code} {status.get('reason', '')}: {status.get('message', status)}")
        self.code = code
        self.status = status


class ApiClient:
    """The API server as one identity sees it."""

    def __init__(self, url: str, ca_file: Path, token: str) -> None:
        self.url = url
        self.ca_file = ca_file
        self.token = token
        self._http = httpx.Client(
            base_url=url,
            verify=ssl.create_default_context(cafile=str(ca_file)),
            headers={"Authorization": f"Bearer {token}"},
            timeout=30,
            trust_env=False,  # no proxy between the tests and loopback
        )
        self._kinds: dict[tuple[str, str], tuple[str, bool]] = {}

    def as_token(self, token: str) -> "ApiClient":
        """The same server for another identity, say a ServiceAccount's."""
        return ApiClient(self.url, self.ca_file, token)

    def service_account_token(self, namespace: str, name: str) -> str:
        """A token for a ServiceAccount, as a pod of it would get."""
        path = self.path("v1", "ServiceAccount", name, namespace)
        request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
        answer = self.request("POST", f"{path}/token", request)
        token: str = answer["status"]["token"]
        return token

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def request(
        self,
        method: str,
        path: str,
        body: object = None,
        params: Mapping[str, str] | None = None,
        content_type: str = "application/json",
    ) -> Any:
        """One call; the decoded answer, or ApiError."""
        response = self._http.request(
            method,
            path,
            params=params,
            content=None if body is None else json.dumps(body),
            headers={"Content-Type": content_type},
        )
        is_json = "json" in response.headers.get("content-type", "")
        answer = response.json() if is_json else response.text
        if response.is_error:
            raise ApiError(
                response.status_code, answer if isinstance(answer, dict) else {"message": answer}
            )
        return answer

    def path(self, api_version: str, kind: str, name: str = "", namespace: str = "") -> str:
        """The URL path of a kind's list, or of one object."""
        if (api_version, kind) not in self._kinds:
            self._discover(api_version)
        plural, namespaced = self._kinds[api_version, kind]
        parts = [_group(api_version)]
        if namespaced and namespace:
            parts.append(f"namespaces/{namespace}")
        return "/".join([*parts, plural, name] if name else [*parts, plural])

    def get(self, api_version: str, kind: str, name: str, namespace: str = "") -> Object:
        """One object."""
        answer: Object = self.request("GET", self.path(api_version, kind, name, namespace))
        return answer

    def find(self, api_version: str, kind: str, name: str, namespace: str = "") -> Object | None:
        """One object, or None when there is none of that name."""
        try:
            return self.get(api_version, kind, name, namespace)
        except ApiError as error:
            if error.code == 404:
                return None
            raise

    def list(
        self, api_version: str, kind: str, namespace: str = "", **params: str
    ) -> "list[Object]":
        """All objects of a kind: of one namespace or of all. ``labelSelector=…`` and so on."""
        path = self.path(api_version, kind, namespace=namespace)
        items: list[Object] = self.request("GET", path, params=params)["items"]
        return items

    def create(self, obj: Object, namespace: str = "", **params: str) -> Object:
        """Create an object; a field that the server does not know is an error.

        The namespace is the given one, else the object's own.
        """
        meta = obj.get("metadata", {})
        path = self.path(obj["apiVersion"], obj["kind"], "", namespace or meta.get("namespace", ""))
        params = {"fieldValidation": "Strict"} | params
        answer: Object = self.request("POST", path, obj, params)
        return answer

    def dry_run(self, obj: Object, namespace: str = "") -> Object:
        """What the API server would make of an object: admission and validation, no change."""
        return self.create(obj, namespace, dryRun="All")

    def replace(self, obj: Object) -> Object:
        """Replace an object, as read before and changed."""
        answer: Object = self.request("PUT", self._path_of(obj), obj)
        return answer

    def patch(
        self, obj: Object, patch: object, patch_type: str = "merge", subresource: str = ""
    ) -> Object:
        """Patch an object, which is given by its apiVersion, kind and metadata."""
        path = self._path_of(obj) + (f"/{subresource}" if subresource else "")
        answer: Object = self.request("PATCH", path, patch, None, PATCH_TYPES[patch_type])
        return answer

    def patch_status(self, obj: Object, status: Object) -> Object:
        """Merge ``status`` into an object's status."""
        return self.patch(obj, {"status": status}, subresource="status")

    def delete(self, obj: Object, grace_seconds: int | None = None) -> None:
        """Delete an object; one that is gone already is no error."""
        body = None if grace_seconds is None else {"gracePeriodSeconds": grace_seconds}
        try:
            self.request("DELETE", self._path_of(obj), body)
        except ApiError as error:
            if error.code != 404:
                raise

    def delete_all(
        self,
        api_version: str,
        kind: str,
        namespace: str = "",
        grace_seconds: int = 0,
        **params: str,
    ) -> None:
        """Delete all objects of a kind: of a namespace, or those that a selector names."""
        path = self.path(api_version, kind, namespace=namespace)
        self.request("DELETE", path, {"gracePeriodSeconds": grace_seconds}, params)

    def _path_of(self, obj: Object) -> str:
        meta = obj["metadata"]
        return self.path(obj["apiVersion"], obj["kind"], meta["name"], meta.get("namespace", ""))

    def _discover(self, api_version: str) -> None:
        for resource in self.request("GET", _group(api_version))["resources"]:
            if "/" not in resource["name"]:
                found = (resource["name"], resource["namespaced"])
                self._kinds[api_version, resource["kind"]] = found


def _group(api_version: str) -> str:
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
