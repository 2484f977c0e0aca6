"""Settings: flags over environment over a file over defaults; ``docs/webhook.md`` lists them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import BeforeValidator, Field, ValidationError, model_validator
from pydantic_settings import (
    BaseSettings,
    CliSettingsSource,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from kubectl_llmfit.catalog.safeyaml import UnreadableError, load
from kubectl_llmfit.core.reasons import printable

PROGRAM = "python -m webhook"
ENVIRONMENT = "LLMFIT_WEBHOOK_"
_MIB = 1024 * 1024


def _split(value: object) -> object:
    return value.split(",") if isinstance(value, str) else value


# Without NoDecode a variable would have to hold JSON.
Files = Annotated[list[Path], NoDecode, BeforeValidator(_split)]


class BadSettingsError(ValueError):
    """Settings that can't be used: one line for each."""


class Settings(BaseSettings):
    """The admission webhook: pods that name a model get their claim as they are created."""

    model_config = SettingsConfigDict(
        env_prefix=ENVIRONMENT,
        env_ignore_empty=True,
        cli_kebab_case=True,
        cli_implicit_flags=True,
        cli_prog_name=PROGRAM,
        extra="forbid",
        frozen=True,
        use_attribute_docstrings=True,
        validate_default=False,
    )

    config: Path | None = None
    """File with settings in YAML, by the names of the flags without their dashes in front."""

    bind_address: str = ""
    """Address to listen on; empty for all of them."""

    tls_port: int = Field(8443, ge=0, le=65535)
    """Port of `/mutate`, with TLS."""

    plain_port: int = Field(8080, ge=0, le=65535)
    """Port of `/livez`, `/readyz` and `/metrics`, without TLS."""

    namespace: str = ""
    """Namespace of the webhook's Service, Secret and Lease; empty for that of its own pod, and
    `llmfit-system` where it runs in none."""

    tls_cert_file: Path | None = None
    """Serving certificate and its chain in PEM, given by you; read again when it changes. Without
    one the webhook makes its own, and keeps the caBundle of its configuration right."""

    tls_key_file: Path | None = None
    """Key of that certificate in PEM."""

    on_mistake: Literal["deny", "warn"] = "deny"
    """What becomes of a pod whose annotations or limits have a mistake: refused, or let pass
    unchanged with a warning."""

    catalog: Files = []
    """Files with models of your own, as for `kubectl llmfit --catalog`; commas between them."""

    boards: Files = []
    """Files with boards of your own, as for `kubectl llmfit --boards`; commas between them."""

    deadline_seconds: float = Field(4.0, gt=0, le=30)
    """Time for one review; after it, or after 80 % of the API server's own timeout, the answer is
    503."""

    max_review_bytes: int = Field(4 * _MIB, ge=64 * 1024, le=64 * _MIB)
    """Largest review that is read; a larger one is answered with 413. An API server takes objects
    of up to 3 MiB."""

    max_in_flight: int = Field(64, ge=1, le=10_000)
    """Reviews at hand at one time; one more is answered with 503."""

    max_connections: int = Field(512, ge=1, le=100_000)
    """Open connections of each port; one more is closed."""

    client_seconds: float = Field(5.0, gt=0, le=60)
    """Time for a client to finish its handshake, its first request's headers, and each body."""

    drain_seconds: float = Field(5.0, ge=0, le=300)
    """How long to go on serving after SIGTERM, while `/readyz` says no: the time for endpoints and
    API servers to look elsewhere."""

    shutdown_seconds: float = Field(10.0, ge=0, le=300)
    """How long reviews at hand may still take after that."""

    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """Least level of the log lines; a review's line is of level info."""

    endpoint_port: int | None = Field(None, ge=0, le=65535)
    """Port of the [JSON endpoint](endpoint.md), without TLS; there is none unless it is given."""

    @model_validator(mode="after")
    def _pair(self) -> Self:
        if (self.tls_cert_file is None) != (self.tls_key_file is None):
            raise ValueError("--tls-cert-file and --tls-key-file go together")
        return self

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Flags are put in front of these."""
        return init_settings, env_settings, _File(settings_cls)


class _File(PydanticBaseSettingsSource):
    """The file that flag or environment names."""

    def get_field_value(self, field: Any, field_name: str) -> tuple[Any, str, bool]:  # noqa: ARG002
        """Not asked: the file is read as a whole."""
        return None, field_name, False

    def __call__(self) -> dict[str, Any]:
        path = self.current_state.get("config")
        if not path:
            return {}
        try:
            found = load(Path(path).read_text("utf-8"))
        except OSError as error:
            raise BadSettingsError(f"config {path}: {error.strerror}") from None
        except (UnicodeDecodeError, UnreadableError) as error:
            raise BadSettingsError(f"config {path}: no YAML: {error}") from None
        if not isinstance(found, dict) or not all(isinstance(key, str) for key in found):
            raise BadSettingsError(f"config {path}: settings by name are expected")
        return {key.replace("-", "_"): value for key, value in found.items()}


class EndpointSettings(BaseSettings):
    """Claims and models as JSON over HTTP, for programs; no cluster is needed."""

    model_config = SettingsConfigDict(
        env_prefix=ENVIRONMENT,
        env_ignore_empty=True,
        cli_kebab_case=True,
        cli_prog_name=f"{PROGRAM} api",
        extra="forbid",
        frozen=True,
        use_attribute_docstrings=True,
    )

    bind_address: str = "127.0.0.1"
    """Address to listen on; empty for all of them."""

    port: int = Field(8081, ge=0, le=65535)
    """Port to listen on; 0 for one that is free."""

    catalog: Files = []
    """Files with models of your own, as for `kubectl llmfit --catalog`; commas between them."""

    boards: Files = []
    """Files with boards of your own, as for `kubectl llmfit --boards`; commas between them."""

    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """Least level of the log lines."""


Read = TypeVar("Read", bound=BaseSettings)


def read_settings(arguments: list[str]) -> Settings:
    """The webhook's settings. Raises as ``read``."""
    return read(Settings, arguments)


def read(kind: type[Read], arguments: list[str]) -> Read:
    """The settings of a command line, the environment and the file that they name.

    Raises:
        BadSettingsError: every setting that can't be used.
        SystemExit: the command line is wrong or asks for help; argparse has said so.
    """
    try:
        flags: Any = CliSettingsSource(kind, cli_parse_args=arguments)
        return kind(_cli_settings_source=flags)
    except ValidationError as error:
        said = "\n".join(_line(each) for each in error.errors(include_url=False))
        raise BadSettingsError(said) from None


def flag(field: str) -> str:
    """The flag of a setting."""
    return f"--{field.replace('_', '-')}"


def variable(field: str) -> str:
    """The environment variable of a setting."""
    return f"{ENVIRONMENT}{field.upper()}"


def _line(error: Any) -> str:
    message = printable(str(error["msg"]).removeprefix("Value error, "))
    if not error["loc"]:
        return message
    name = flag(str(error["loc"][0]))
    if error["type"] == "extra_forbidden":
        return f"{name} is no setting"
    return f"{name}: {message}"
