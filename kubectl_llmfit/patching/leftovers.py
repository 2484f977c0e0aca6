"""Generated templates that a restored workload no longer names: deleted when nothing else does."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from kubectl_llmfit.cluster.api import Api, Object
from kubectl_llmfit.cluster.kubectl import ApiError
from kubectl_llmfit.cluster.names import object_name
from kubectl_llmfit.core.reasons import Problem
from kubectl_llmfit.core.rewrite.generated import TEMPLATE_LABEL
from kubectl_llmfit.core.rewrite.held import PATCH
from kubectl_llmfit.core.rewrite.survey import mappings_in
from kubectl_llmfit.core.rewrite.workloads import KINDS

TEMPLATES = "resourceclaimtemplates.resource.k8s.io"

# What holds pod templates of the past, beside the kinds that are patched: a rollback names them.
_HISTORY = ("controllerrevisions.apps",)


@dataclass(frozen=True)
class Leftover:
    """A template and what became of it: deleted, or why it stays."""

    name: str
    deleted: bool = False
    stays: str = ""
    problem: Problem | None = None

    @property
    def shown(self) -> str:
        """As kubectl names an object that it deletes."""
        return f'resourceclaimtemplate.resource.k8s.io "{self.name}"'


def delete_unused(
    api: Api,
    namespace: str,
    names: Collection[str],
    restored: Collection[str],
    *,
    dry_run: bool = False,
) -> list[Leftover]:
    """Deletes those of the templates ``names`` of ``namespace`` that nothing names any more.

    ``restored`` are the workloads that no longer do, as kubectl names them; a dry run has left
    them as they were, and does not count them. Only a template that ``patch`` made is deleted,
    and only the very one that was looked at.
    """
    found: list[Leftover] = []
    users: list[Object] | None = None
    for name in names:
        try:
            template = _read(api, namespace, name)
            if template is None:
                continue
            labels = template["metadata"].get("labels") or {}
            if labels.get(TEMPLATE_LABEL) != PATCH.label:
                found.append(Leftover(name, stays="patch did not make it"))
                continue
            if users is None:
                users = _users(api, namespace, restored)
            ignored = restored if dry_run else ()
            naming = [each for each in naming_it(users, name) if each not in ignored]
            if naming:
                more = f" and {len(naming) - 3} more" if len(naming) > 3 else ""
                stays = f"{', '.join(naming[:3])}{more} still name it"
                found.append(Leftover(name, stays=stays))
                continue
            if not dry_run:
                api.delete(template, TEMPLATES.partition(".")[0])
            found.append(Leftover(name, deleted=True))
        except ApiError as error:
            found.append(Leftover(name, problem=error.problems[0]))
    return found


def naming_it(objects: Iterable[Any], template: str) -> Iterator[str]:
    """Those of ``objects``, as kubectl names them, in which anything names ``template``."""
    return (object_name(each) for each in objects if template in set(_named(each)))


def _named(value: Any) -> Iterator[str]:
    """Every template that something below ``value`` names, pod templates of any depth."""
    for each in mappings_in(value):
        name = each.get("resourceClaimTemplateName")
        if isinstance(name, str):
            yield name


def _read(api: Api, namespace: str, name: str) -> Object | None:
    try:
        return api.read(f"{TEMPLATES}/{name}", f"--namespace={namespace}")[0]
    except ApiError as error:
        if error.status == "NotFound":
            return None
        raise


def _users(api: Api, namespace: str, restored: Collection[str]) -> list[Object]:
    """Every object of the namespace that may name a template."""
    served = {"", *(group["name"] for group in api.get("/apis").get("groups", ()))}
    types = dict.fromkeys(
        (
            *(kind.resource for kind in KINDS if kind.group in served),
            *_HISTORY,
            # A kind that is not known here has been named with a template path.
            *(each.partition("/")[0] for each in restored if not _is_known(each)),
        )
    )
    return api.read(",".join(types), f"--namespace={namespace}")


def _is_known(name: str) -> bool:
    kinds = {f"{kind.name.lower()}.{kind.group}".rstrip(".") for kind in KINDS}
    return name.partition("/")[0] in kinds
