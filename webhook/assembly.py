"""The service made from its settings."""

from __future__ import annotations

from collections.abc import Sequence

from kubectl_llmfit.catalog import Catalog
from kubectl_llmfit.catalog.boards import load_boards
from kubectl_llmfit.core.claims.objects import V1
from kubectl_llmfit.core.drivers.auto import Published
from kubectl_llmfit.version import __version__
from webhook.certificates import Certificates
from webhook.certificates.files import FileCertificates
from webhook.endpoint.app import make_app
from webhook.endpoint.part import Endpoint
from webhook.kube.client import Object, Unavailable
from webhook.reviews.decisions import Decisions, Surroundings
from webhook.reviews.models import Models
from webhook.reviews.mutate import Mutator
from webhook.service import Part, Service
from webhook.settings import BadSettingsError, Settings
from webhook.templates.keeper import Keeper


def assemble(
    settings: Settings, surroundings: Surroundings, keeper: Keeper, parts: Sequence[Part] = ()
) -> Service:
    """The service over a cluster's ``surroundings`` and ``keeper``, with their ``parts``.

    Raises:
        BadSettingsError: no certificate is named.
        Refused: a catalog or board file has mistakes.
    """
    catalog = Catalog.open([str(path) for path in settings.catalog])
    models = Models(catalog)
    boards = load_boards([str(path) for path in settings.boards])
    decisions = Decisions(models, boards, surroundings)
    mutator = Mutator(decisions, surroundings, keeper, settings.on_mistake)
    if settings.endpoint_port is not None:
        app = make_app(catalog, boards)
        parts = (*parts, Endpoint(app, settings.bind_address or None, settings.endpoint_port))
    service = Service(settings, mutator, _certificates(settings), parts)
    release = models.release
    service.metrics.catalog.info({"source": release.source, "models": str(release.models)})
    service.metrics.build.info({"version": __version__})
    return service


async def serve(settings: Settings) -> None:
    """Runs the service until it is asked to end."""
    await assemble(settings, Alone(), Alone()).run()


class Alone:
    """No cluster is connected: nothing is known of it, and no template can be made."""

    api_version = V1

    def published(self) -> Published | None:
        """Nothing."""
        return None

    def namespace(self, name: str) -> Object | None:  # noqa: ARG002
        """None."""
        return None

    async def learn_namespace(self, name: str) -> None:
        """Nothing."""

    def lacks(self, device_class: str) -> bool:  # noqa: ARG002
        """No."""
        return False

    async def ensure(self, template: Object, owner: Object | None) -> None:  # noqa: ARG002
        """Fails."""
        raise Unavailable("no cluster is connected")


def _certificates(settings: Settings) -> Certificates:
    certificate, key = settings.tls_cert_file, settings.tls_key_file
    if certificate is None or key is None:
        raise BadSettingsError("--tls-cert-file and --tls-key-file are needed")
    return FileCertificates(str(certificate), str(key))
