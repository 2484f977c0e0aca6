"""The service made from its settings."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from kubectl_llmfit.catalog import Catalog
from kubectl_llmfit.catalog.boards import load_boards
from kubectl_llmfit.version import __version__
from webhook.certificates import Certificates
from webhook.certificates.files import FileCertificates
from webhook.certificates.own import OwnCertificates, OwnSettings
from webhook.endpoint.app import make_app
from webhook.endpoint.part import Endpoint
from webhook.kube.client import Client, NoClusterError
from webhook.kube.lease import Leadership, Timing
from webhook.observed.metrics import Metrics
from webhook.reviews.decisions import Decisions, Surroundings
from webhook.reviews.models import Models
from webhook.reviews.mutate import Mutator
from webhook.service import Part, Service
from webhook.settings import BadSettingsError, Settings
from webhook.state import ClusterState
from webhook.templates.keeper import Keeper, TemplateKeeper
from webhook.templates.remake import Remaker
from webhook.templates.sweep import Sweeper, SweepTiming

LEASE = "llmfit-webhook"

DEFAULT_NAMESPACE = "llmfit-system"
_OWN_NAMESPACE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")


@dataclass(frozen=True)
class Pace:
    """How fast leaders follow each other, certificates are renewed and leftovers swept. Of
    ``certificates`` the namespace is that of the settings."""

    lease: Timing = field(default_factory=Timing)
    certificates: OwnSettings = field(default_factory=OwnSettings)
    sweep: SweepTiming = field(default_factory=SweepTiming)


async def serve(settings: Settings) -> None:
    """Runs the webhook of a cluster until it is asked to end.

    Raises:
        BadSettingsError: there is no API server to talk to.
        Refused: a catalog or board file has mistakes.
        OSError: a port can't be had.
    """
    try:
        client = await Client.connect()
    except NoClusterError as error:
        raise BadSettingsError(str(error)) from None
    async with client:
        await connected(settings, client).run()


def connected(settings: Settings, client: Client, pace: Pace = Pace()) -> Service:
    """The service of the cluster that ``client`` reaches.

    Raises:
        Refused: a catalog or board file has mistakes.
    """
    state = ClusterState(client)
    namespace = settings.namespace or _own_namespace()
    identity = f"{socket.gethostname()}-{secrets.token_hex(4)}"
    leadership = Leadership(client, namespace, LEASE, identity, pace.lease)
    metrics = Metrics()
    keeper = TemplateKeeper(client, state.templates, on_made=metrics.templates_made.inc)
    certificates = file_certificates(settings) or OwnCertificates(
        client, lambda: leadership.is_leader, replace(pace.certificates, namespace=namespace)
    )
    parts = (
        state,
        leadership,
        Remaker(client, state.templates, keeper, leadership),
        Sweeper(client, state.templates, leadership, pace.sweep),
    )
    service = assemble(settings, state, keeper, certificates, parts, metrics)
    service.readiness.add("caches", lambda: state.synced)
    metrics.leader.set_function(lambda: float(leadership.is_leader))
    metrics.templates.set_function(lambda: float(len(state.templates)))
    return service


def assemble(
    settings: Settings,
    surroundings: Surroundings,
    keeper: Keeper,
    certificates: Certificates,
    parts: Sequence[Part] = (),
    metrics: Metrics | None = None,
) -> Service:
    """The service over ``surroundings`` and ``keeper``, with the ``parts`` that keep them going.

    Raises:
        Refused: a catalog or board file has mistakes.
    """
    catalog = Catalog.open([str(path) for path in settings.catalog])
    models = Models(catalog)
    boards = load_boards([str(path) for path in settings.boards])
    decisions = Decisions(models, boards, surroundings, settings.on_mistake)
    mutator = Mutator(decisions, surroundings, keeper)
    if settings.endpoint_port is not None:
        app = make_app(catalog, boards)
        parts = (*parts, Endpoint(app, settings.bind_address or None, settings.endpoint_port))
    service = Service(settings, mutator, certificates, parts, metrics)
    release = models.release
    service.metrics.catalog.info({"source": release.source, "models": str(release.models)})
    service.metrics.build.info({"version": __version__})
    return service


def _own_namespace() -> str:
    """The namespace of the pod that this runs in."""
    try:
        return _OWN_NAMESPACE.read_text("utf-8").strip()
    except OSError:
        return DEFAULT_NAMESPACE


def file_certificates(settings: Settings) -> FileCertificates | None:
    """Certificates in files, where the settings name some."""
    certificate, key = settings.tls_cert_file, settings.tls_key_file
    if certificate is None or key is None:
        return None
    return FileCertificates(str(certificate), str(key))
