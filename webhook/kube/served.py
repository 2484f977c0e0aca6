"""Which version of resource.k8s.io the cluster serves: the best that we can write."""

from __future__ import annotations

from kubectl_llmfit.core.claims.objects import API_VERSIONS
from webhook.kube.client import ApiError, Client
from webhook.kube.paths import path

GROUP = "resource.k8s.io"


class ServedVersion:
    """The version, asked for anew whenever a list is read: an upgrade may end an old one.

    ``known`` is what was last found; before the first answer it is the best one.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self.known = API_VERSIONS[0]

    async def collection(self, plural: str) -> str:
        """The path of the cluster's objects of a kind, in the best version that is served.

        Raises:
            ApiError: among others ``NotFound``, where no version is served that we can write.
            Unavailable: the API server did not answer.
        """
        self.known = await self._find()
        return path(self.known, plural)

    async def _find(self) -> str:
        group = await self._client.get(f"/apis/{GROUP}")
        served = {each.get("groupVersion") for each in group.get("versions") or ()}
        for version in API_VERSIONS:
            if version in served:
                return version
        raise ApiError(404, "NotFound", f"the cluster serves none of {', '.join(API_VERSIONS)}")
