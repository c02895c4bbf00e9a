"""External programs in a study: their order, their launcher, their output on screen or in a file.
Hostile programs do no harm."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from longshore_study.cli.command_line import main
from longshore_study.store.launch_store import Launch, Store
from printed_outputs import BALE_JSON, CARTEX, ISX_LOG, ISX_SCREEN, OSU
from started_programs import longshore, write_script


class Place:
    """A folder in which studies of small scripts run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def script(self, name: str, text: str) -> str:
        return str(write_script(self.folder / name, text))

    def run(self, blocks: str, *words: str, head: str = "launches = 1") -> subprocess.CompletedProcess[str]:
        study = f'[study]\nname = "others"\n{head}\n{blocks}'
        (self.folder / "study.toml").write_text(study, encoding="utf-8")
        return longshore(self.folder, "run", "study.toml", "--session", "s", *words)

    def launches(self) -> list[Launch]:
        return list(Store(self.folder / "longshore-results").launches())


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def external(name: str, command: list[str], form: str, **more: object) -> str:
    lines = [
        f"{key} = {json.dumps(value) if not isinstance(value, dict) else value['toml']}" for key, value in more.items()
    ]
    return "\n".join(
        ["", "[[external]]", f'name = "{name}"', f"command = {json.dumps(command)}", f'format = "{form}"', *lines, ""]
    )


def test_results_on_stdout_stderr_or_in_a_file_are_read(place: Place) -> None:
    (place.folder / "osu.txt").write_text(OSU)
    (place.folder / "isx.txt").write_text(ISX_SCREEN)
    (place.folder / "isx.log").write_text(ISX_LOG)
    (place.folder / "bale.json").write_text(BALE_JSON)
    osu = place.script("osu", "cat osu.txt >&2")
    isx = place.script("isx", 'cat isx.txt; cat isx.log > "$2"')
    bale = place.script("bale", 'cat bale.json > "$2"; echo a warning')
    blocks = external("osu", [osu], "osu", between={"toml": "{ ranks = 2 }"})
    blocks += external("isx", [isx, "1000", "{output}"], "isx")
    blocks += external("bale", [bale, "-j", "{output}"], "bale", ranks_per_node=2)
    done = place.run(blocks, head="launches = 2")
    assert done.returncode == 0, done.stderr
    launches = place.launches()
    assert [launch.problem for launch in launches] == [None] * 6
    assert all(launch.imported for launch in launches)
    metrics = {launch.cell["program"]: set(launch.results[0]["metrics"]) for launch in launches}
    assert metrics == {
        "osu": {"bandwidth_MBps"},
        "isx": {"keys_per_second", "total_seconds", "exchange_seconds"},
        "bale": {"injection_bandwidth"},
    }
    positions = sorted((launch.position or 0, launch.cell["program"]) for launch in launches)
    assert [position for position, _ in positions] == list(range(6)), "one random order for all"


def test_arguments_of_an_external_program_are_read_from_its_command(place: Place) -> None:
    """Chapel's programs and cartex do not print their arguments."""
    (place.folder / "cartex.txt").write_text(CARTEX.split("\n", 1)[1])
    ig = place.script(
        "of somebody/ig", "echo '  AGP: 6.823 seconds 0.844 GB/s/node'; echo '  AGG: 2.0 seconds 2.88 GB/s/node'"
    )
    cartex = place.script("cartex", "cat cartex.txt")
    words = ["--domain", "64", "64", "64", "--halo", "{halo}", "--nfields", "8"]
    blocks = external("chapel", [ig, "-nl", "{nodes}", "--N=10000000"], "chapel-ig", between={"toml": "{ nodes = 2 }"})
    blocks += external("cartex", [cartex, *words], "cartex", between={"toml": "{ halo = [1, 2] }"})
    done = place.run(blocks)
    assert done.returncode == 0, done.stderr
    found = {(x.cell["program"], x.results[0]["variant"].get("halo")) for x in place.launches()}
    assert found == {("chapel", None), ("cartex", 1), ("cartex", 2)}
    chapel = next(launch for launch in place.launches() if launch.cell["program"] == "chapel")
    assert chapel.results[0]["variant"]["requests"] == 10_000_000
    assert chapel.header is not None
    assert chapel.header["nodes"] == 2


def test_the_launcher_of_the_study_starts_what_wants_ranks(place: Place) -> None:
    fake = place.script(
        "mpirun", 'if [ "$1" = --version ]; then echo "HYDRA build details: Version: 4"; exit; fi\n'
        'echo "ranks: $2"; shift 2; exec "$@"',
    )  # fmt: skip
    figure = {"pattern": r"ranks: (\d+)", "figure": "ranks", "unit": "1"}
    between = {"toml": "{ ranks = [2, 3] }"}
    done = place.run(external("x", ["true"], "regex", launch=True, between=between, **figure), "--mpirun", fake)
    assert done.returncode == 0, done.stderr
    assert sorted(launch.results[0]["metrics"]["ranks"]["value"] for launch in place.launches()) == [2, 3]
    assert place.run(external("x", ["true"], "regex", launch=True, **figure), "--mpirun", fake).returncode == 64


def test_check_mentions_a_missing_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    blocks = external("one", ["/nowhere/ig", "-n", "2"], "bale") + external("two", ["sh", "-c", "true"], "osu")
    blocks += external("three", ["mpirun", "x"], "osu", between={"toml": '{ stack = "mpich-4" }'})
    (tmp_path / "study.toml").write_text(f'[study]\nname = "others"\n{blocks}', encoding="utf-8")
    assert main(["check", str(tmp_path / "study.toml")]) == 0
    remarks = [line for line in capsys.readouterr().out.splitlines() if "was not found here" in line]
    assert len(remarks) == 1
    assert "'/nowhere/ig' of [[external]] one" in remarks[0]


def test_an_optional_program_that_is_missing_is_left_out(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    here = external("here", ["sh", "-c", "echo rate: 7"], "regex", pattern=r"rate: (\d+)", figure="rate", unit="1")
    absent = external("absent", ["/nowhere/isx"], "isx", optional=True)
    done = place.run(here + absent)
    assert done.returncode == 0, done.stderr
    assert "left out: '/nowhere/isx' of [[external]] absent was not found here" in done.stderr
    assert [launch.cell["program"] for launch in place.launches()] == ["here"]
    study = str(place.folder / "study.toml")
    assert main(["check", study]) == 0
    assert "absent was not found here; the study runs without it" in capsys.readouterr().out
    assert main(["plan", study]) == 0
    assert "left out: '/nowhere/isx' of [[external]] absent" in capsys.readouterr().out
    assert place.run(here + absent.replace("optional = true", "optional = false"), "--session", "t").returncode == 1


def test_a_study_of_missing_programs_alone_is_refused(place: Place) -> None:
    absent = [external(name, [f"/nowhere/{name}"], "isx", optional=True) for name in ("one", "two")]
    done = place.run("".join(absent))
    assert done.returncode == 64
    assert "'/nowhere/one' of [[external]] one, '/nowhere/two' of [[external]] two were not found here" in done.stderr
    assert "install one or put it on PATH" in done.stderr


def test_why_an_output_was_not_read_is_kept_with_the_launch(place: Place) -> None:
    done = place.run(external("osu", ["echo", "nothing of the kind"], "osu"))
    assert done.returncode == 1
    (launch,) = place.launches()
    assert launch.problem is not None
    assert "nothing in it is typical of one" in launch.problem
    assert "nothing in it is typical of one" in done.stdout


def test_an_output_with_broken_numbers_is_a_failed_launch(place: Place) -> None:
    text = "# OSU MPI Latency Test v7.3\\n# Size          Latency (us)\\n4   1.2.3\\n"
    isx = ISX_LOG.replace("NUM_PES 2", "NUM_PES 0").replace("\n", "\\n").replace("\t", "\\t")
    done = place.run(external("osu", ["printf", text], "osu") + external("isx", ["printf", isx], "isx"))
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    problems = {launch.cell["program"]: str(launch.problem) for launch in place.launches()}
    assert "NUM_PES is 0" in problems["isx"]
    assert "'1.2.3' below Latency (us) is not a number" in problems["osu"]


def test_no_argument_is_looked_at_by_a_shell_or_filled_twice(place: Place) -> None:
    figure = {"pattern": r"value=(?P<value>\d+) (?P<rest>.*)", "figure": "v", "unit": "1"}
    words = ["printf", "%s ", "value=1", "$HOME; touch broken", "{b}", "{ranks}", "{}", "{"]
    blocks = external("x", words, "regex", between={"toml": '{ b = "{ranks}", ranks = 7 }'}, **figure)
    assert place.run(blocks).returncode == 0
    (launch,) = place.launches()
    assert launch.results[0]["variant"]["rest"] == "$HOME; touch broken {ranks} 7 {} { "
    assert not (place.folder / "broken").exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("exec yes 'a line without end'", "printed more than 64 MiB"),
        pytest.param("exec yes 'a line without end' >&2", "printed more than 64 MiB", marks=pytest.mark.thorough),
        ("head -c 3000000 /dev/urandom", "nothing in the output matches"),
        (r"printf 'rate: \033]0;owned\007'", "nothing in the output matches"),
        ("echo 'rate: 1e999'", "not a number"),
        ("i=0; while [ $i -lt 100001 ]; do echo rate: 1; i=$((i+1)); done", "more than 100000 values"),
        ("kill -9 $$", "SIGKILL"),
    ],
)
def test_a_hostile_program_is_a_failed_launch_and_no_more(place: Place, text: str, words: str) -> None:
    figure = {"pattern": "rate: ([0-9.e]+)", "figure": "rate", "unit": "1"}
    begun = time.monotonic()
    done = place.run(external("x", [place.script("hostile", text)], "regex", **figure))
    assert done.returncode == 1, done.stderr
    assert time.monotonic() - begun < 300
    assert words in done.stdout
    assert "\x1b" not in done.stdout + done.stderr
    (launch,) = place.launches()
    assert launch.problem is not None
    assert words in launch.problem
    stored = sum(path.stat().st_size for path in place.folder.rglob("*.jsonl"))
    assert stored < 100_000


def test_escapes_and_markup_in_names_reach_neither_terminal_nor_page(place: Place) -> None:
    nasty = "\x1b[31mred\x1b]0;t\x07<script>alert(1)</script>"
    figure = {"pattern": r"(?P<name>.*)=(?P<value>\d+)", "figure": "v", "unit": "1"}
    command = [sys.executable, "-c", f"print({nasty!r} + '=5'); print('oops ' + {nasty!r})"]
    assert place.run(external("x", command, "regex", **figure), "--tag", f"t{nasty}").returncode == 0
    failing = [sys.executable, "-c", f"import sys; sys.exit({nasty!r})"]
    assert place.run(external("y", failing, "regex", **figure), "--tag", f"t{nasty}").returncode == 1
    for verb in (["show"], ["status"], ["export"], ["status", "-v"], ["guidelines", f"t{nasty}"],
                 ["compare", f"t{nasty}", f"t{nasty}"], ["compare", "t", nasty]):  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-m", "longshore_study", *verb], cwd=place.folder, capture_output=True, check=False
        )
        assert b"\x1b" not in done.stdout + done.stderr, verb
        assert b"\x07" not in done.stdout + done.stderr, verb
        assert b"Traceback" not in done.stderr, verb
    report = subprocess.run(
        [sys.executable, "-m", "longshore_study", "report", "-o", "r.html"],
        cwd=place.folder,
        capture_output=True,
        check=False,
    )
    assert report.returncode == 0, report.stderr
    page = (place.folder / "r.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page


def test_a_terminal_gets_styles_but_no_other_control_sequences(place: Place) -> None:
    """On a pseudo-terminal, styles are printed, but sequences that set titles or move the cursor
    are not."""
    figure = {"pattern": r"(?P<name>.*)=(?P<value>\d+)", "figure": "v", "unit": "1"}
    text = "\x1b]0;owned\x07\x1b[2J"
    command = [sys.executable, "-c", f"print({text!r} + '=5'); print({text!r} + '2=6')"]
    assert place.run(external("x", command, "regex", **figure)).returncode == 0
    master, slave = os.openpty()
    words = [sys.executable, "-m", "longshore_study", "show"]
    own = {k: v for k, v in os.environ.items() if k != "NO_COLOR"} | {"TERM": "xterm-256color"}
    process = subprocess.Popen(words, cwd=place.folder, env=own, stdout=slave, stderr=slave)
    os.close(slave)
    shown = b""
    with contextlib.suppress(OSError):  # the end, after the last process has closed its side
        while part := os.read(master, 1 << 16):
            shown += part
    os.close(master)
    assert process.wait() == 0
    assert b"\x1b[1m" in shown, "our own styles"
    assert b"\x1b]0;" not in shown
    assert b"\x1b[2J" not in shown
