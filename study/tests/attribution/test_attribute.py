"""Rules that a change is associated with, the confirming study, and its verdict."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from longshore_study.attribution.rules import Case, Rule, find_rules
from longshore_study.cli.command_line import main
from longshore_study.store.launch_store import Store
from longshore_study.store.records import metric, result_record
from longshore_study.study_file.reader import StudyFileError, load, loads
from promised_rates import least, most
from stored_launches import halo, import_published_images, json_of, store_launch

MODES = tuple("abcdefgh")
SIZES = (1, 64, 4096, 65536, 10**6)

Change = Callable[[dict[str, Any]], float]


def cases(generator: random.Random, change: Change, *, sd: float = 0.03, shared: float = 0.01) -> list[Case]:
    common = generator.gauss(0, shared)
    table = []
    for mode, transport, size, ranks in itertools.product(MODES, ("mpi", "threads"), SIZES, (2, 4, 8)):
        factors = {"mode": mode, "transport": transport, "size": size, "ranks": ranks}
        table.append(Case(factors, change(factors) + common + generator.gauss(0, sd), sd, 20.0))
    return table


def levels(rule: Rule) -> dict[str, set[Any]]:
    return {condition.factor: set(condition.levels) for condition in rule.conditions}


@pytest.mark.simulation
def test_noise_is_associated_with_nothing() -> None:
    generator = random.Random(1)
    assert not any(find_rules(cases(generator, lambda _: 0.0), 0.05)[0] for _ in range(20))
    # A change by exactly the margin is not beyond the margin.
    on_margin = [find_rules(cases(generator, lambda _: -0.0488), 0.05)[0] for _ in range(15)]
    assert sum(map(bool, on_margin)) <= most(0.05, len(on_margin))


def test_the_price_of_conditions_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the price, a search over hundreds of conjunctions takes noise for a rule."""
    tables = [cases(random.Random(seed), lambda _: 0.0, sd=0.15) for seed in range(8)]
    assert sum(bool(find_rules(table, 0.05)[0]) for table in tables) == 0
    monkeypatch.setattr("longshore_study.attribution.rules._Candidate.price", 0.0)
    assert sum(bool(find_rules(table, 0.05)[0]) for table in tables) >= 4


def test_a_conjunction_is_found_exactly() -> None:
    generator = random.Random(2)
    held = 0
    for _ in range(10):
        table = cases(
            generator, lambda f: -2.9 if f["mode"] == "c" and f["transport"] == "mpi" and f["size"] >= 4096 else 0.0
        )
        found, residuals = find_rules(table, 0.05)
        assert [levels(rule) for rule in found] == [{"mode": {"c"}, "transport": {"mpi"}, "size": {4096, 65536, 10**6}}]
        held += found[0].interval[0] < -2.9 < found[0].interval[1]
        assert max(map(abs, residuals)) < 0.25, "the rules explain all differences"
    assert held >= least(0.95, 10)


def test_two_changes_are_two_rules_and_a_change_of_all_is_one() -> None:
    generator = random.Random(3)
    found, _ = find_rules(cases(generator, lambda f: {"c": -0.9, "f": 0.5}.get(f["mode"], 0.0)), 0.05)
    assert [levels(rule) for rule in found] == [{"mode": {"c"}}, {"mode": {"f"}}]
    everything, _ = find_rules(cases(generator, lambda _: -0.3), 0.05)
    assert [levels(rule) for rule in everything] == [{}]


def attribute(store: str, capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    capsys.readouterr()
    status = main(["--store", store, "attribute", *arguments, "--json"])
    return status, json_of(capsys.readouterr().out)


def test_a_row_that_no_rule_explains_is_named_with_its_ranks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Five scattered changes are too many for three rules."""
    store, generator = Store(tmp_path / "results"), random.Random(4)
    for tag, session, ranks in itertools.product(("old", "new"), ("a", "b", "c"), (2, 4, 8, 16, 32)):
        slow = {2: "a", 4: "c", 8: "e", 16: "b", 32: "d"}[ranks] if tag == "new" else None
        results = [halo(mode, (300 if mode == slow else 1000) * generator.gauss(1, 0.01)) for mode in MODES]
        store_launch(store, tag, session, results, cell={"ranks": ranks})
    main(["--store", str(store.path), "attribute", "old", "new", "-o", str(tmp_path / "confirm.toml")])
    unexplained = [line for line in capsys.readouterr().out.splitlines() if line.startswith("not explained: ")]
    assert unexplained
    assert all(line.startswith("not explained: halo ranks ") and ", mode " in line for line in unexplained)


def test_the_published_images_lost_persistent(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store, confirm = str(tmp_path / "results"), tmp_path / "confirm.toml"
    import_published_images(Path(store))
    status, document = attribute(store, capsys, "reference", "new", "-o", str(confirm))
    assert status == 0
    first, second = document["rules"]
    assert first["associated_with"] == "mode == 'persistent'"
    assert first["interval"][0] < 0.0573 < first["interval"][1]
    assert set(second["conditions"][0]["levels"]) == {"sendrecv", "isend-recv", "pairwise"}
    assert (second["rows"], second["changed"]) == (3, 3)
    assert document["unexplained"] == []
    assert main(["check", str(confirm)]) == 0
    study = load(confirm)
    assert study.hypothesis is not None
    assert study.hypothesis.factors == {"mode": ["persistent"]}
    assert study.description.endswith(" the cause?")
    assert study.patterns[0].within["mode"][0] == "persistent"
    assert len(study.patterns[0].within["mode"]) == 3
    assert main(["--store", store, "attribute", "reference", "new", "-o", str(confirm)]) == 0
    text = capsys.readouterr().out
    assert "17.5 times slower is associated with mode == 'persistent'" in text
    assert "cause of" not in text, "an association is no cause"


def test_a_study_that_was_edited_is_not_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store, confirm = str(tmp_path / "results"), tmp_path / "confirm.toml"
    import_published_images(Path(store))
    call = ["--store", store, "attribute", "reference", "new", "-o", str(confirm)]
    assert main(call) == 0
    written = confirm.read_text()
    # Another margin gives another study, which replaces an unedited file.
    assert main([*call, "--margin", "7%"]) == 0
    assert confirm.read_text() != written
    assert main(call) == 0
    assert confirm.read_text() == written
    for edited in (written.replace("launches = 5", "launches = 9").encode(), b"\xff\xfe[hypothesis]", b""):
        confirm.write_bytes(edited)
        capsys.readouterr()
        assert main(call) == 64
        assert "exists and was edited" in capsys.readouterr().err
        assert confirm.read_bytes() == edited


def test_an_unwritable_study_does_not_hide_the_result(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = str(tmp_path / "results")
    import_published_images(Path(store))
    capsys.readouterr()
    for more in ([], ["--json"]):
        assert (
            main(["--store", store, "attribute", "reference", "new", "-o", str(tmp_path / "no" / "c.toml"), *more]) == 3
        )
        output = capsys.readouterr()
        assert "mode == 'persistent'" in output.out
        assert "cannot be written" in output.err
        assert len(output.err.splitlines()) == 1


def test_a_difference_in_provenance_is_a_candidate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Only the MPI cells have another library, and only they have changed."""
    store = Store(tmp_path / "results")
    generator = random.Random(5)
    for tag, session, transport in itertools.product(("old", "new"), "abc", ("mpi", "threads")):
        changed = tag == "new" and transport == "mpi"
        header = {"record": "launch", "schema": 1, "transport": {"library": "MPI 2" if changed else "MPI 1"}}
        header["environment"] = {"A": tag}
        factor = 0.6 if changed else 1.0
        results = [halo(m, 1000 * factor * generator.gauss(1, 0.01)) for m in ("waitall", "persistent")]
        store_launch(store, tag, session, [header, *results], cell={"transport": transport, "ranks": 2})
    _, document = attribute(str(store.path), capsys, "old", "new", "-o", str(tmp_path / "c.toml"))
    assert len(document["rules"]) == 1
    factors = {c["factor"] for c in document["rules"][0]["conditions"]}
    assert factors <= {"transport", "differs: transport: library"}
    differences = {d["property"]: d for d in document["provenance"]}
    assert differences["transport: library"] == {
        "property": "transport: library", "reference": ["MPI 1"], "new": ["MPI 2"], "rows": 2,
    }  # fmt: skip
    assert differences["environment: A"]["rows"] == 4


def test_attribute_lists_no_difference_that_compare_hides(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Properties that are named by the user, measured in each launch, recorded by failed launches
    only, or that differ between rows by chance."""
    store = Store(tmp_path / "results")
    generator = random.Random(8)
    for tag, session, mode in itertools.product(("old", "new"), "abc", ("waitall", "persistent")):
        swapped = "AB"[(mode == "waitall") == (tag == "new")]
        header = {
            "record": "launch", "schema": 1, "clock": {"overhead_seconds": generator.random()},
            "system": {"kernel": "6.1" if tag == "old" else "6.2", "board": swapped},
        }  # fmt: skip
        results = [halo(mode, 1000 * (0.5 if tag == "new" else 1.0) * generator.gauss(1, 0.01))]
        cell = {"program": "halo", "ranks": 2, "mode": mode}
        store_launch(store, tag, session, [header, *results], cell=cell, source=f"file of {tag}")
        failed = [header | {"system": {"cpu": "another"}}, *results]
        store_launch(store, "new", session, failed, 7, cell=cell, end=False)
    call = ["old", "new", "-o", str(tmp_path / "c.toml")]
    _, attributed = attribute(str(store.path), capsys, *call)
    assert main(["--store", str(store.path), "compare", "old", "new", "--json"]) == 1
    compared = json_of(capsys.readouterr().out)
    assert [difference["property"] for difference in compared["differences"]] == ["system: kernel"]
    assert [difference["property"] for difference in attributed["provenance"]] == ["system: kernel"]
    assert attributed["provenance"][0]["rows"] == 2


def test_the_confirming_study_tests_changed_variables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store, confirm = Store(tmp_path / "results"), tmp_path / "confirm.toml"
    generator = random.Random(15)
    for tag, session in itertools.product(("old", "new"), "abc"):
        environment = {"UCX_RNDV_THRESH": "256K" if tag == "old" else "8K", "SLURM_JOB_ID": session, "FI_A": "same"}
        header = {"record": "launch", "schema": 1, "environment": environment}
        lost = {"waitall": 0.5} if tag == "new" else {}
        results = [halo(m, 1000 * lost.get(m, 1.0) * generator.gauss(1, 0.01)) for m in ("waitall", "persistent")]
        store_launch(store, tag, session, [header, *results], cell={"transport": "mpi", "ranks": 2})
    attribute(str(store.path), capsys, "old", "new", "-o", str(confirm))
    study = load(confirm)
    assert study.hypothesis is not None
    assert study.hypothesis.environment == {"UCX_RNDV_THRESH": "256K"}
    assert study.hypothesis.new_environment == {"UCX_RNDV_THRESH": "8K"}
    assert study.patterns[0].between["environment"] == [{}, {"UCX_RNDV_THRESH": "256K"}, {"UCX_RNDV_THRESH": "8K"}]
    for tag, session, index, variables in itertools.product(
        ("before", "after"), "abc", range(3), ({}, {"UCX_RNDV_THRESH": "256K"})
    ):
        lost = {"waitall": 0.5} if tag == "after" and not variables else {}
        results = [halo(m, 1000 * lost.get(m, 1.0) * generator.gauss(1, 0.01)) for m in ("waitall", "persistent")]
        cell = {"transport": "mpi", "ranks": 2, "environment": variables}
        store_launch(store, tag, session, results, index, cell=cell, study=study.name)
    status, document = attribute(str(store.path), capsys, "before", "after", "--confirm", str(confirm))
    assert (status, document["verdict"]) == (0, "confirmed")
    (restored,) = document["environment_restored"]
    assert restored["variant"] == {"mode": "waitall"}
    assert restored["interval"][0] < 2.0 < restored["interval"][1]
    main(["--store", str(store.path), "attribute", "before", "after", "--confirm", str(confirm)])
    out = capsys.readouterr().out
    assert "with the environment of the reference, within the new side: mode waitall, ratio of speed 2" in out


def run_confirming(store: Store, tag: str, factors: dict[str, float], sessions: str = "abc", seed: int = 0) -> None:
    generator = random.Random(f"{tag} {sessions} {seed}")
    for session, index in itertools.product(sessions, range(3)):
        launch_noise = generator.gauss(1, 0.05)  # common to all variants
        results = [
            halo(m, 1000 * launch_noise * factors.get(m, 1.0) * generator.gauss(1, 0.01))
            for m in ("persistent", "waitall", "irecv-send")
        ]
        store_launch(store, tag, session, results, index, study="halobench-confirm")


@pytest.mark.parametrize(
    "case",
    [
        ({"persistent": 0.06}, "abc", 0, "confirmed"),
        ({"persistent": 0.06}, "a", 2, "undecided"),
        ({"persistent": 0.5, "waitall": 0.5, "irecv-send": 0.5}, "abcde", 1, "refuted"),
        ({"persistent": 1.7}, "abc", 1, "refuted"),
    ],
)
def test_the_confirming_study_finds_the_cause(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    case: tuple[dict[str, float], str, int, str],
) -> None:
    factors, sessions, status, verdict = case
    images, confirm = tmp_path / "images", tmp_path / "confirm.toml"
    import_published_images(images)
    assert main(["--store", str(images), "attribute", "reference", "new", "-o", str(confirm)]) == 0
    store = Store(tmp_path / "results")
    run_confirming(store, "before", {}, sessions)
    run_confirming(store, "after", factors, sessions)
    found, document = attribute(str(store.path), capsys, "before", "after", "--confirm", str(confirm))
    assert (found, document["verdict"]) == (status, verdict)
    assert main(["--store", str(store.path), "attribute", "before", "after", "--confirm", str(confirm)]) == status
    assert ("confirmed: " in capsys.readouterr().out) == (verdict == "confirmed")


@pytest.mark.simulation
def test_a_false_cause_is_confirmed_at_most_at_the_promised_rate(tmp_path: Path) -> None:
    """If the effect is exactly the margin, the hypothesis is false, and is confirmed in at most one
    of twenty cases."""
    confirm = tmp_path / "confirm.toml"
    confirm.write_text(
        '[study]\nname = "halobench-confirm"\n[[pattern]]\nprogram = "halo"\nbetween = { ranks = 2 }\n'
        'within = { mode = ["persistent", "waitall", "irecv-send"] }\n'
        '[hypothesis]\nfactors = { mode = ["persistent"] }\nratio = 0.5\n'
    )
    confirmed = 0
    for seed in range(40):
        store = Store(tmp_path / str(seed))
        run_confirming(store, "before", {}, "abc", seed)
        run_confirming(store, "after", {"persistent": 1 / 1.05}, "abc", seed)
        confirmed += main(["--store", str(store.path), "attribute", "before", "after", "--confirm", str(confirm)]) == 0
    assert confirmed <= most(0.05, 40)


HEAD = (
    '[study]\nname = "x"\n[[pattern]]\nprogram = "halo"\nbetween = { ranks = 2 }\n'
    'within = { mode = ["waitall", "sendrecv"] }\n'
)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ('[hypothesis]\nfactors = { mod = ["waitall"] }\nratio = 1\n', "s.toml:8: unknown factor 'mod'"),
        (
            '[hypothesis]\nfactors = { mode = "persistent" }\nratio = 1\n',
            "does not measure the suspected level of mode",
        ),
        ('[hypothesis]\nfactors = { mode = ["waitall", "sendrecv"] }\nratio = 1\n', "measures only suspected levels"),
        ('[hypothesis]\nfactors = { mode = "waitall" }\nratio = 0\n', "'ratio' must be a number above 0"),
        ("[hypothesis]\nfactors = {}\n", "factors is empty"),
    ],
)
def test_a_hypothesis_that_cannot_be_tested_is_an_error(table: str, message: str) -> None:
    with pytest.raises(StudyFileError) as caught:
        loads(HEAD + table, "s.toml")
    assert any(message in problem for problem in caught.value.problems), caught.value.problems


def test_hostile_names_do_not_change_the_study(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = Store(tmp_path / "results")
    evil = 'new"\n[launcher]\nkind = "local"\n\x1b[31m\x7f'
    generator = random.Random(6)
    for tag, session in itertools.product(("old", evil), "abc"):
        lost = {"waitall": 0.5} if tag == evil else {}
        results = [
            result_record("halo", {"mode": m, "x\n[study]": 'a"\n'}, {"process_bandwidth": metric(value, "MiB/s")})
            for m in ("waitall", "persistent", "sendrecv")
            for value in [1000 * lost.get(m, 1.0) * generator.gauss(1, 0.01)]
        ]
        store_launch(store, tag, session, results, study='s"\n')
    confirm = tmp_path / "confirm.toml"
    _, document = attribute(str(store.path), capsys, "old", evil, "-o", str(confirm))
    assert document["rules"][0]["associated_with"] == "mode == 'waitall'"
    study = load(confirm) if confirm.exists() else None
    assert study is None or study.launcher.kind == "local"
    assert json.dumps(document)
