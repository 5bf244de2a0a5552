"""Every trial of the bank, through the adapter.

A trial passes when all of its expectations that concern what the package has are met, and there is at least one. An
expectation on a metric or an operation that does not exist is left out by name (`trials_adapter.MISSING_METRICS`,
`MISSING_OPERATIONS`); a trial that consists of nothing else stands in PENDING with the capability that it waits for,
and the test fails as soon as that capability is there.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
from bank import judge
from test_scripts import SCRIPTS

HERE = Path(__file__).parent
CASES = {path.stem.partition("_")[0]: path for path in sorted((HERE / "cases").glob("*.py"))}

PENDING = {
    "C5": "bootstrap",
    "E7": "procrustes",
    "F4": "minibatch_cka",
    "G1": "cca",
    "G2": "cca",
    "G4": "pwcca",
    "G6": "svcca, cca, pwcca",
    "I6": "ridge",
    "I8": "ridge",
    "J3": "adjust",
    "K1": "sign_test",
    "K2": "sign_test",
    "K4": "sign_test",
    "L1": "load_table",
    "L10": "interaction",
    "L12": "interaction",
    "L2": "load_table",
    "L4": "interaction",
    "L6": "load_table",
    "L7": "interaction",
    "L8": "load_table",
    "L9": "load_table",
    "M1": "interaction",
    "M3": "interaction",
    "M4": "interaction",
    "M6": "interaction",
    "P3": "script: plain loops where numba cannot be imported",
    "Q1": "validate",
    "Q10": "validate",
    "Q2": "validate",
    "Q4": "validate",
    "Q5": "validate",
    "Q6": "script: the pytest plugin",
    "Q8": "script: the pytest plugin",
}

# Kinds of trials that the package claims to pass, each trial but those above.
CLAIMED_KINDS = "ABCDEFHJ"


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"trials_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ADAPTER = _module(HERE.parent / "trials_adapter.py")
MISSING = {*ADAPTER.MISSING_METRICS, *ADAPTER.MISSING_OPERATIONS}


def _waits_for_code(trial_id: str) -> bool:
    return trial_id in PENDING and not PENDING[trial_id].startswith("script")


@pytest.mark.parametrize("trial_id", [i for i in CASES if i not in PENDING and i not in SCRIPTS])
def test_trial(trial_id: str) -> None:
    case = _module(CASES[trial_id])
    for package in case.TRIAL["needs"]:
        pytest.importorskip(package, reason=f"trial {trial_id} needs {package}")
    verdicts = [judge(expectation, ADAPTER.call) for expectation in case.EXPECT]
    failed = [f"[{number}] {v.note}" for number, v in enumerate(verdicts) if v.outcome == "fail"]
    assert not failed, f"{case.TRIAL['right']}\n" + "\n".join(failed)
    assert {v.note for v in verdicts if v.outcome == "uncovered"} <= MISSING
    assert any(v.outcome == "pass" for v in verdicts), f"{trial_id} is uncovered: list it in PENDING"


@pytest.mark.parametrize("trial_id", [i for i in CASES if _waits_for_code(i)])
def test_pending_trial_still_waits(trial_id: str) -> None:
    case = _module(CASES[trial_id])
    for package in case.TRIAL["needs"]:
        pytest.importorskip(package, reason=f"trial {trial_id} needs {package}")
    verdicts = [judge(expectation, ADAPTER.call) for expectation in case.EXPECT]
    assert {v.outcome for v in verdicts} == {"uncovered"}, f"{trial_id} is covered now: take it out of PENDING"
    assert {v.note for v in verdicts} == set(PENDING[trial_id].split(", "))


def test_bank_is_whole() -> None:
    assert len(CASES) == len(list((HERE / "cases").glob("*.py"))) == 94
    assert set(PENDING) <= set(CASES)
    for trial_id, path in CASES.items():
        case = _module(path)
        assert case.TRIAL["id"] == trial_id
        assert case.TRIAL["kind"][0] == trial_id[0]
        assert case.EXPECT
        by_process = {expectation["op"] for expectation in case.EXPECT} == {"script"}
        assert by_process == (trial_id in SCRIPTS or PENDING.get(trial_id, "").startswith("script")), trial_id


def test_pending_trials_of_claimed_kinds_wait_for_metrics_and_procedures_yet_to_come() -> None:
    assert {i for i in PENDING if i[0] in CLAIMED_KINDS} == {"C5", "E7", "F4", "J3"}


def test_the_judge_can_fail() -> None:
    def call(op: str, **kw: object) -> object:
        if op == "raw":
            raise KeyError("score")
        if op == "sentence":
            raise ValueError("Y has 1 non-finite value")
        return 0.5

    def outcome(**expectation: object) -> str:
        return judge({"args": {}, **expectation}, call).outcome

    assert outcome(op="number", then="value", value=0.5) == "pass"
    assert outcome(op="number", then="value", value=0.6) == "fail"
    assert outcome(op="sentence", then="raises", says=["Y", ("nan", "finite")]) == "pass"
    assert outcome(op="sentence", then="raises", says=["X"]) == "fail"
    assert outcome(op="number", then="raises", says=[]) == "fail"
    assert outcome(op="raw", then="raises", says=["score"]) == "fail"
    assert outcome(op="number", then="warns", says=["nan"]) == "fail"
    assert outcome(op="number", then="prop", prop=lambda call: call("number") > 1) == "fail"
