"""What admission asks of the core: defaults of a namespace, templates of its own, its own pods."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_llmfit.core.reasons import Refused
from kubectl_llmfit.core.request import Sourced
from kubectl_llmfit.core.rewrite import annotated
from kubectl_llmfit.core.rewrite.admission import decide_pod, essence
from kubectl_llmfit.core.rewrite.decide import decide
from kubectl_llmfit.core.rewrite.decision import Decision, Finish, Inject, Skip
from kubectl_llmfit.core.rewrite.held import PATCH, WEBHOOK, claims_held
from kubectl_llmfit.core.rewrite.inputs import Wishes
from kubectl_llmfit.core.rewrite.operations import applied
from tests.unit.rewrite.pods import Object, container, pod
from tests.unit.rewrite.test_decide import KNOWLEDGE, vllm
from tests.unit.rewrite.test_rewrite import pods


def whole(spec: Object, **annotations: str) -> Object:
    marks = {f"llmfit.ai/{name.replace('_', '-')}": value for name, value in annotations.items()}
    return {"metadata": {"annotations": marks}, "spec": spec}


def decided(workload: Object, flags: dict[str, str] | None = None, **namespace: str) -> Decision:
    marks = {f"llmfit.ai/{name.replace('_', '-')}": value for name, value in namespace.items()}
    layer = {field: Sourced(value, f"--{field}") for field, value in (flags or {}).items()}
    defaults = annotated.defaults({"annotations": marks})
    wishes = Wishes(layer, namespace="team", defaults=defaults, maker=WEBHOOK)
    return decide_pod(workload, wishes, KNOWLEDGE)


def injected(workload: Object, flags: dict[str, str] | None = None, **namespace: str) -> Inject:
    decision = decided(workload, flags, **namespace)
    assert isinstance(decision, Inject)
    return decision


PLAIN = whole(pod(container(gpu=1)), model="ten")
SERVED = whole(pod(vllm()), model="ten")
FOUR = whole(pod(vllm("--tensor-parallel-size", "4", gpu=4)), model="ten")


@pytest.mark.parametrize(
    ("annotations", "flags", "value", "origin"),
    [
        pytest.param({}, {}, 30, "namespace annotation llmfit.ai/min-tps", id="namespace"),
        pytest.param({"min_tps": "40"}, {}, 40, "annotation llmfit.ai/min-tps", id="pod"),
        pytest.param({"min_tps": "40"}, {"min_tps": "50"}, 50, "--min_tps", id="flag"),
    ],
)
def test_a_namespace_says_what_pods_leave_out(
    annotations: dict[str, str], flags: dict[str, str], value: int, origin: str
) -> None:
    workload = whole(pod(vllm()), model="ten", **annotations)
    sources = injected(workload, flags, min_tps="30").sources
    assert sources["min-tps"] == Sourced(str(value), origin)
    assert injected(workload, flags).sources["efficiency"].origin == "default"


def test_an_engines_precision_goes_before_the_namespaces() -> None:
    assert injected(SERVED, quant="Q8_0").sources["quant"].value == "BF16"
    assert injected(PLAIN, quant="Q8_0").sources["quant"] == Sourced(
        "Q8_0", "namespace annotation llmfit.ai/quant"
    )
    assert injected(PLAIN).sized.demand.quant.name == "Q4_K_M"


def test_a_namespaces_precision_holds_where_the_engine_leaves_it_open() -> None:
    """A quantization method alone does not say how many bits it leaves."""
    workload = whole(pod(vllm("--quantization", "compressed-tensors")), model="ten")
    with pytest.raises(Refused) as caught:
        decided(workload)
    assert [each.reason.token for each in caught.value.problems] == ["unknown-quantization"]
    assert injected(workload, quant="FP8").sources["quant"].value == "FP8"


def test_a_namespaces_topology_is_for_several_devices() -> None:
    def constraints(inject: Inject) -> Any:
        return inject.template["spec"]["spec"]["devices"].get("constraints")

    assert constraints(injected(SERVED, topology="pcie")) is None
    assert constraints(injected(FOUR, topology="pcie")) == [
        {"requests": ["model"], "matchAttribute": "resource.kubernetes.io/pcieRoot"}
    ]


def class_of(inject: Inject) -> Any:
    return inject.template["spec"]["spec"]["devices"]["requests"][0]["exactly"]["deviceClassName"]


def test_driver_and_class_are_one_choice() -> None:
    """A namespace's driver beside a pod's class would be two answers to one question."""
    assert class_of(injected(SERVED, driver="llmfit.ai")) == "gpu.llmfit.ai"
    own = whole(pod(vllm()), model="ten", device_class="gpu.nvidia.com")
    assert class_of(injected(own, driver="llmfit.ai")) == "gpu.nvidia.com"


def test_a_namespaces_mistake_names_the_namespace() -> None:
    with pytest.raises(Refused) as caught:
        decided(SERVED, min_tps="fast", quant="huge")
    assert [each.sentence.partition(":")[0] for each in caught.value.problems] == [
        "namespace annotation llmfit.ai/min-tps",
        "namespace annotation llmfit.ai/quant",
    ]
    own = whole(pod(vllm()), model="ten", min_tps="20", quant="BF16")
    assert isinstance(decided(own, min_tps="fast", quant="huge"), Inject)


def test_a_namespace_names_no_model_and_takes_nobody_in() -> None:
    assert annotated.defaults({"annotations": {"llmfit.ai/model": "ten"}}) == {}
    decision = decided(whole(pod(vllm())), model="ten")
    assert isinstance(decision, Skip)
    assert decision.reason.token == "not-annotated"


@pytest.mark.parametrize("metadata", [{}, None, {"annotations": None}, {"annotations": {}}])
def test_a_pod_that_names_no_model_is_left_alone(metadata: Any) -> None:
    decision = decided({"metadata": metadata, "spec": pod(vllm())})
    assert isinstance(decision, Skip)
    assert decision.reason.token == "not-annotated"


def by_patch(workload: Object) -> Decision:
    return decide(workload, (), Wishes({}, namespace="team"), KNOWLEDGE)


def same_but_for_the_name(webhooks: Inject, patchs: Inject) -> bool:
    ours, theirs = (copy.deepcopy(dict(each.template)) for each in (webhooks, patchs))
    names = ours["metadata"].pop("name"), theirs["metadata"].pop("name")
    labels = ours["metadata"].pop("labels"), theirs["metadata"].pop("labels")
    assert labels == (
        {"app.kubernetes.io/managed-by": "llmfit-webhook"},
        {"app.kubernetes.io/managed-by": "kubectl-llmfit"},
    )
    digest = names[1].removeprefix(PATCH.prefix)
    assert names == (f"llmfit-webhook-{digest}", f"llmfit-{digest}")
    return ours == theirs


def without_templates(spec: Object) -> Object:
    """A pod's spec with its generated templates' makers taken out of their names."""
    renamed = copy.deepcopy(spec)
    for each in renamed.get("resourceClaims") or []:
        if "resourceClaimTemplateName" in each:
            each["resourceClaimTemplateName"] = each["resourceClaimTemplateName"].rpartition("-")[2]
    return renamed


@given(spec=pods())
def test_the_same_pod_gets_the_same_spec_by_patch(spec: Object) -> None:
    """And an answer to its own answer changes nothing."""
    workload = whole(spec, model="ten")
    answers: list[Decision | tuple[str, ...]] = []
    for decides in (decided, by_patch):
        try:
            answers.append(decides(workload))
        except Refused as refused:
            answers.append(tuple(str(each) for each in refused.problems))
    ours, theirs = answers
    if not isinstance(ours, Inject):
        assert ours == theirs
        return
    assert isinstance(theirs, Inject)
    assert same_but_for_the_name(ours, theirs)
    after = applied(workload, ours.operations)
    assert without_templates(after["spec"]) == without_templates(
        applied(workload, theirs.operations)["spec"]
    )
    assert isinstance(decided(after), Skip)
    assert isinstance(by_patch(after), Skip)


mounts = st.sampled_from([None, "x", [None], [{"name": "token-1", "mountPath": "/dev/"}]])


@given(spec=pods(), mounted=mounts, env=st.sampled_from([None, "all"]), queue=st.booleans())
def test_essence_is_all_that_counts(
    spec: Object, mounted: Any, env: str | None, queue: bool
) -> None:
    for each in spec["containers"]:
        each["volumeMounts"] = mounted
        each["env"] = [{"name": "NVIDIA_VISIBLE_DEVICES", "value": env}]
    workload = whole(
        {**spec, "volumes": [{"name": "token-1"}], "runtimeClassName": "n"}, model="ten"
    )
    workload["metadata"] |= {"labels": {"kueue.x-k8s.io/queue-name": "q"} if queue else {}}
    workload["metadata"] |= {"name": "vllm-1", "uid": "u"}
    answers: list[Decision | tuple[str, ...]] = []
    for each in (workload, essence(workload)):
        try:
            answers.append(decided(each))
        except Refused as refused:
            answers.append(tuple(str(problem) for problem in refused.problems))
    assert answers[0] == answers[1]


def test_essence_is_the_same_for_the_pods_of_a_workload() -> None:
    def of_replica(number: int) -> Object:
        main = {
            **vllm(),
            "volumeMounts": [{"name": f"kube-api-access-{number}", "mountPath": "/v"}],
        }
        made = whole({"volumes": [{"name": f"kube-api-access-{number}"}], **pod(main)}, model="ten")
        made["metadata"]["annotations"]["example.com/seen"] = str(number)
        made["metadata"] |= {"labels": {"index": str(number)}, "name": f"vllm-{number}"}
        return made

    assert essence(of_replica(1)) == essence(of_replica(2))


@pytest.mark.parametrize("odd", [None, [], "x", 0])
def test_essence_of_what_is_no_pod(odd: Any) -> None:
    nothing: Object = {"metadata": {"annotations": {}, "labels": {}}, "spec": {}}
    assert essence({"metadata": odd, "spec": odd}) == nothing
    assert essence({"spec": {"containers": odd}})["spec"] == {"containers": odd}


@pytest.mark.parametrize("maker", [PATCH, WEBHOOK])
def test_a_claim_of_either_maker_is_held(maker: Any) -> None:
    wishes = Wishes({}, maker=maker)
    inject = decide(SERVED, (), wishes, KNOWLEDGE)
    assert isinstance(inject, Inject)
    after = applied(SERVED, inject.operations)
    (main,) = after["spec"]["containers"]
    assert claims_held(after["spec"], main) == ("llmfit",)
    main["resources"]["limits"] = {"nvidia.com/gpu": 1}
    assert isinstance(decided(after), Finish)
    assert isinstance(by_patch(after), Finish)
