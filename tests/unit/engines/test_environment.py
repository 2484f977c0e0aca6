"""Environments against Kubernetes' own rules (its expansion tests, and the kubelet's order)."""

from __future__ import annotations

import pytest

from kubectl_llmfit.core.engines.environment import Budget, Environment, Variable, expand
from tests.unit.engines.pods import container, engine, runs

# The context and the cases of kubernetes/kubernetes third_party/forked/golang/expansion/
# expand_test.go.
CONTEXT = {
    "VAR_A": "A",
    "VAR_B": "B",
    "VAR_C": "C",
    "VAR_REF": "$(VAR_A)",
    "VAR_EMPTY": "",
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$(VAR_A)", "A"),
        ("$(VAR_A)-$(VAR_A)", "A-A"),
        ("___$(VAR_B)___", "___B___"),
        ("$(VAR_A)_$(VAR_B)_$(VAR_C)", "A_B_C"),
        ("$$(VAR_B)_$(VAR_A)", "$(VAR_B)_A"),
        ("f000-$$VAR_A", "f000-$VAR_A"),
        ("foo\\$(VAR_C)bar", "foo\\Cbar"),
        ("$(VAR_A$(VAR_B))", "$(VAR_A$(VAR_B))"),
        ("$(VAR_A$(VAR_B)", "$(VAR_A$(VAR_B)"),
        ("%%$(VAR_REF)--$(VAR_REF)%%", "%%$(VAR_A)--$(VAR_A)%%"),
        ("foo$(VAR_EMPTY)bar", "foobar"),
        ("foo$(VAR_Awhoops!", "foo$(VAR_Awhoops!"),
        ("$?_boo_$!", "$?_boo_$!"),
        ("$VAR_A", "$VAR_A"),
        ("$(VAR_DNE)", "$(VAR_DNE)"),
        ("$$$$$$(BIG_MONEY)", "$$$(BIG_MONEY)"),
        ("$$$$$$$(VAR_A)", "$$$A"),
        ("${VAR_A}", "${VAR_A}"),
        ("$(VAR_B)_______$(A", "B_______$(A"),
        ("$(VAR_A)foobarzab$", "Afoobarzab$"),
        ("--$($($($($--", "--$($($($($--"),
        ("$(foo$$var)", "$(foo$$var)"),
    ],
)
def test_references_expand_as_in_kubernetes(text: str, expected: str) -> None:
    variables = {name: Variable(value, f"env {name}") for name, value in CONTEXT.items()}
    assert expand(text, Environment(variables), Budget()).text == expected


@pytest.mark.parametrize(
    ("text", "expected", "origin"),
    [
        pytest.param(
            "env: [{name: M, value: a}, {name: M, value: b}]", "b", "env M", id="later-wins"
        ),
        pytest.param(
            "env: [{name: A, value: x}, {name: M, value: $(A)/y}]",
            "x/y",
            "env M (from env A)",
            id="refers-to-an-earlier-one",
        ),
        pytest.param(
            "env: [{name: M, valueFrom: {configMapKeyRef: {name: settings, key: model}}}]",
            "from-map",
            "env M (ConfigMap settings, key model)",
            id="a-key-of-a-configmap",
        ),
        pytest.param(
            "envFrom: [{configMapRef: {name: settings}, prefix: M_}]\n"
            "env: [{name: M, value: $(M_model)}]",
            "from-map",
            "env M (from env M_model (ConfigMap settings, key model))",
            id="envfrom-with-a-prefix",
        ),
        pytest.param(
            "envFrom: [{configMapRef: {name: settings}}]\nenv: [{name: model, value: mine}]",
            "mine",
            "env model",
            id="env-over-envfrom",
        ),
        pytest.param("env: [{name: M}]", "", "env M", id="no-value-is-empty"),
    ],
)
def test_values_and_their_origins(text: str, expected: str, origin: str) -> None:
    environment = runs(text, {"settings": {"model": "from-map"}}.get).environment
    variable = environment.get("model" if "name: model" in text else "M")
    assert variable is not None
    assert (variable.text, variable.origin) == (expected, origin)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        pytest.param(
            "env: [{name: M, valueFrom: {configMapKeyRef: {name: s, key: m}}}]",
            "key m of ConfigMap s can't be read here",
            id="configmap",
        ),
        pytest.param(
            "env: [{name: M, valueFrom: {secretKeyRef: {name: s, key: m}}}]",
            "key m of Secret s is not read",
            id="secret",
        ),
        pytest.param(
            "env: [{name: M, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]",
            "its fieldRef is known only once the pod runs",
            id="downward-api",
        ),
        pytest.param(
            "env: [{name: M, value: $(NOWHERE)}]",
            'nothing in the container sets "NOWHERE"',
            id="refers-to-nothing",
        ),
        pytest.param(
            "envFrom: [{configMapRef: {name: s}}, {secretRef: {name: t}}]",
            "may be set by ConfigMap s or Secret t, which can't be read here",
            id="whole-sources",
        ),
    ],
)
def test_what_cannot_be_known_says_why(text: str, why: str) -> None:
    variable = runs(text).environment.get("M")
    assert variable is not None
    assert (variable.text, variable.missing) == (None, why)


def test_nothing_sets_it() -> None:
    read = {"s": {"other": "x"}}.get
    text = """
      env: [{name: M, valueFrom: {configMapKeyRef: {name: s, key: m, optional: true}}}]
      envFrom: [{configMapRef: {name: s}}]
    """
    assert runs(text, read).environment.get("M") is None


def test_an_unread_source_may_override_an_earlier_one() -> None:
    text = "envFrom: [{configMapRef: {name: s}}, {secretRef: {name: t}}]"
    variable = runs(text, {"s": {"M": "x"}}.get).environment.get("M")
    assert variable is not None
    assert variable.text is None


def test_values_that_double_do_not_grow_without_end() -> None:
    doubled = [{"name": "V0", "value": "x" * 1000}]
    doubled += [{"name": f"V{n}", "value": f"$(V{n - 1})$(V{n - 1})"} for n in range(1, 40)]
    facts = engine("command: [vllm, serve, $(V39)]")
    assert facts.model is None
    spec = container("command: [vllm, serve, $(V39)]") | {"env": doubled}
    from kubectl_llmfit.core.engines import find_engines

    (facts,) = find_engines({"containers": [spec]})
    assert facts.model is None
    assert facts.is_unknown("model")
