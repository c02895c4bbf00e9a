"""Study files: what is read from a right one, and that each way of being wrong is said with its
line."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

import pytest

from longshore_study.base.errors import UsageError
from longshore_study.cli.command_line import main
from longshore_study.study_file.reader import StudyFileError, load, loads
from longshore_study.study_file.toml_values import Problems, TomlTable

HEAD = '[study]\nname = "x"\n'
PATTERN = '[[pattern]]\nprogram = "halo"\nbetween = { ranks = [2] }\n'


def problems(text: str) -> list[str]:
    with pytest.raises(StudyFileError) as caught:
        loads(text, "s.toml")
    assert caught.value.exit_status == 64
    return caught.value.problems


def test_a_whole_file_is_read() -> None:
    study = loads(
        """
[study]
name = "halo"
seed = 7
sessions = 2
launches = 5
repetitions = 30
margin = 0.05

[[pattern]]
program = "halo"
within = { algorithm = ["standard", "staged"], halo = [1, 2, 3], fields = 8, domain = [64, 64, 64] }
between = { transport = ["threads", "mpi"], ranks = [2, 4], environment = [{}, { UCX_RNDV_THRESH = "256K", N = 3 }] }
exclude = ["transport == 'threads' and environment != {}"]
launches = 3

[[external]]
name = "bale"
command = ["mpirun", "-n", "{ranks}", "ig", "-n", "{requests}"]
format = "bale"
between = { ranks = [2], requests = [1000] }

[launcher]
kind = "local"
arguments = ["--bind-to", "core"]

[bound]
injection_GBps_per_node = 25

[[guideline]]
faster = { mode = "persistent" }
than = { mode = "waitall" }
tolerance = 0.05
""",
        "s.toml",
    )
    assert (study.name, study.seed, study.sessions, study.margin) == ("halo", 7, 2, 0.05)
    block = study.patterns[0]
    assert block.within["fields"] == [8]
    assert block.within["domain"] == [[64, 64, 64]]
    assert block.between["environment"] == [{}, {"UCX_RNDV_THRESH": "256K", "N": "3"}]
    assert (block.launch_settings.launches, block.launch_settings.repetitions) == (3, 30)
    assert study.externals[0].command[2] == "{ranks}"
    assert study.launcher.arguments == ("--bind-to", "core")
    assert study.bound == {"injection_GBps_per_node": 25.0}
    assert study.guidelines[0].faster == {"mode": "persistent"}


EXTERNAL = HEAD + "[[external]]\nname='e'\ncommand=['e']\nformat='osu'\nbetween={library=['a','b']}\n"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (HEAD + "launchs = 3\n" + PATTERN, 3, "unknown key in [study]: 'launchs'; did you mean 'launches'?"),
        (HEAD + "launches = 0\n" + PATTERN, 3, "'launches' must be an integer from 1 to 10000, found 0"),
        (HEAD + "launches = -1\n" + PATTERN, 3, "found -1"),
        (HEAD + "launches = 1000000000000\n" + PATTERN, 3, "found 1000000000000"),
        (HEAD + 'launches = "3"\n' + PATTERN, 3, 'found "3"'),
        (HEAD + "launches = true\n" + PATTERN, 3, "found True"),
        (HEAD + "margin = 5\n" + PATTERN, 3, "'margin' is a fraction below 1; 5 % is written 0.05"),
        (HEAD + "margin = 0\n" + PATTERN, 3, "above 0 and below 1, found 0"),
        (HEAD + "margin = nan\n" + PATTERN, 3, "found nan"),
        (HEAD + "timeout_seconds = -1\n" + PATTERN, 3, "above 0"),
        (EXTERNAL.replace("'osu'", "'csv'"), 6, "'format' is one of"),
        (HEAD + 'verify = "end"\n' + PATTERN, 3, "did you mean 'ends'"),
        (HEAD + "phases = 1\n" + PATTERN, 3, "'phases' is true or false, found 1"),
        (
            HEAD + PATTERN.replace('"halo"', '"sort"') + "phases = true\n",
            6,
            "phases can be timed of halo and ghost, not of sort; remove 'phases'",
        ),
        (
            HEAD + "phases = true\n" + PATTERN.replace('"halo"', '"sort"'),
            3,
            "phases can be timed of halo and ghost, and the study has neither; remove 'phases'",
        ),
        (EXTERNAL.replace(HEAD, HEAD + "phases = true\n"), 3, "the study has neither; remove 'phases'"),
        (HEAD + "phases = true\n" + PATTERN.replace('"halo"', '"hallo"'), 5, "did you mean 'halo'?"),
        (EXTERNAL + "phases = true\n", 8, "unknown key in [[external]]: 'phases'"),
        ("[study]\nname = 3\n" + PATTERN, 2, "'name' must be a text, found 3"),
        ("[study]\nname = ''\n" + PATTERN, 2, "printable"),
        ("[study]\nseed = 1\n" + PATTERN, 1, "the study has no name"),
        (PATTERN, 1, "the table [study] is missing"),
        (HEAD, 1, "nothing to run"),
        (HEAD + "[[patern]]\n" + PATTERN, 3, "unknown table: 'patern'; did you mean 'pattern'?"),
        (HEAD + '[pattern]\nprogram = "halo"\n', 3, "write [[pattern]], not [pattern]"),
        (HEAD + '[[pattern]]\nprogram = "hallo"\n', 4, "did you mean 'halo'?"),
        (HEAD + '[[pattern]]\nprogram = "halo"\n', 3, "the number of ranks is missing"),
        (HEAD + PATTERN.replace("{ ranks = [2] }", "[{ ranks = 2 },\n{ nodes = 2 }]"), 6, "number of ranks is missing"),
        (HEAD + PATTERN.replace("[2] }", "2 }, 3]").replace("= {", "= [{"), 5, "'between' must be a table"),
        (HEAD + PATTERN.partition("between")[0] + "[[pattern.between]]\nranks = 2\nrank = 2\n", 7, "mean 'ranks'?"),
        (HEAD + PATTERN + "within = { mode = 'wait-all' }\n", 6, "did you mean 'waitall'?"),
        (HEAD + PATTERN + "within = { mod = 'waitall' }\n", 6, "unknown factor 'mod' of halo; did you mean 'mode'?"),
        (HEAD + PATTERN + "within = { strategy = 'agp' }\n", 6, "unknown factor 'strategy' of halo (one of algorithm"),
        (HEAD + PATTERN + "within = { transport = 'mpi' }\n", 6, "move it to between"),
        (HEAD + PATTERN + "within = { mode = [] }\n", 6, "mode has no levels"),
        (HEAD + PATTERN + "within = { mode = ['waitall',\n 'waitall'] }\n", 7, "given twice"),
        (HEAD + PATTERN + "within = { halo = [1,\n  2, # two\n  0] }\n", 8, "halo: 0 is not an integer from 1 to 1024"),
        (HEAD + PATTERN + "within = { domain = [64, 64] }\n", 6, "[64, 64] is not a list of 3 numbers"),
        (HEAD + PATTERN + "[pattern.within]\nmode = 'x'\n", 7, '"x" is not one of channel'),
        (HEAD + PATTERN + 'exclude = [\n"ranks == 2",\n"rank == 2"]\n', 8, "did you mean 'ranks'?"),
        (HEAD + PATTERN + "exclude = ['ranks = 2']\n", 6, "equality is '=='"),
        (HEAD + PATTERN + "exclude = [\"transport == 'tcp'\"]\n", 6, 'compares transport with "tcp"'),
        (HEAD + PATTERN + "exclude = 'ranks == 2'\n", 6, "must be a list of texts"),
        (HEAD + PATTERN + "[launcher]\nkind = 'slurm'\n", 7, "did you mean 'slurm-batch'?"),
        (HEAD + PATTERN + "[bound]\ninjection_GBps_per_node = -3\n", 7, "above 0, in GB/s, found -3"),
        (
            HEAD + PATTERN + "[[guideline]]\nfaster = { mode = 'persistant' }\nthan = { mode = 'waitall' }\n",
            7,
            "persistent",
        ),
        (HEAD + PATTERN + "[[guideline]]\nfaster = { mode = 'waitall' }\n", 6, "the table 'than' is missing"),
        (
            HEAD + PATTERN + "[[guideline]]\nfaster = { mode = 'waitall' }\nthan = { mode = 'waitall' }\n",
            8,
            "two different things",
        ),
        (EXTERNAL + "[[guideline]]\nfaster = { library = 'a' }\nthan = { library = 'c' }\n", 10, 'has the level "c"'),
        (EXTERNAL + "[[guideline]]\nfaster = { library = 'a' }\nthan = { librari = 'b' }\n", 10, "mean 'library'?"),
        (
            HEAD + PATTERN + "[[external]]\nname='b'\ncommand=['ig', '{rank}']\nformat='bale'\nbetween={ranks=2}",
            8,
            "'{rank}'",
        ),
        (HEAD + PATTERN + "[[external]]\nname='b'\ncommand=['ig']\nformat='bail'\n", 9, "did you mean 'bale'?"),
        (HEAD + "seed = \n" + PATTERN, 3, "not valid TOML"),
        (HEAD + PATTERN + "within = { mode = 'waitall',\n halo = 1 }\n", 6, "an inline table { } stays on one line"),
    ],
)
def test_a_mistake_is_named_with_its_line(text: str, line: int, words: str) -> None:
    found = problems(text)
    assert any(words in problem for problem in found), found
    named = next(problem for problem in found if words in problem)
    assert named.startswith(f"s.toml:{line}:"), named
    assert "\n" not in named


def test_a_guideline_speaks_of_factors_of_other_programs_too() -> None:
    study = loads(EXTERNAL + "[[guideline]]\nfaster = { library = 'a' }\nthan = { library = 'b' }\n", "s.toml")
    assert study.guidelines[0].than == {"library": "b"}
    text = "[[guideline]]\nfaster = { environment = { A = 1 } }\nthan = { environment = {} }\n"
    assert loads(HEAD + PATTERN + text, "s.toml").guidelines[0].faster == {"environment": {"A": "1"}}
    assert "is no table" in problems(HEAD + PATTERN + text.replace("{ A = 1 }", "5"))[0]
    assert "is no table" in problems(HEAD + PATTERN + text.replace("{ A = 1 }", "[{}]"))[0]
    assert "mean 'stack'?" in problems(HEAD + PATTERN + text.replace("environment", "stak"))[0]


def test_ranks_are_checked_one_by_one() -> None:
    found = problems(HEAD + '[[pattern]]\nprogram = "sort"\nbetween = { ranks = [0, 2, -1, 1000000000000, 2.5] }\n')
    assert [re.findall(r"ranks: (\S+) is not", problem) for problem in found] == [
        ["0"],
        ["-1"],
        ["1000000000000"],
        ["2.5"],
    ]


def test_all_mistakes_are_collected_and_the_first_is_the_message() -> None:
    text = HEAD + "lanches = 1\nmargn = 2\n" + PATTERN + "wthin = 3\n"
    found = problems(text)
    assert len(found) == 3
    with pytest.raises(StudyFileError, match=r"s.toml:3: .*\(2 more; 'longshore check' lists them\)"):
        loads(text, "s.toml")


def test_keys_that_look_like_others_do_not_confuse_the_lines() -> None:
    text = (
        HEAD
        + 'description = """\n[study]\nlaunches = 0 # not a key\n"""\n'
        + "# launches = -1\n"
        + "'launches' = 0\n"
        + PATTERN
        + 'within = { "mode" = ["channel", "]}#"] }\n'
    )
    found = problems(text)
    assert found[0].startswith("s.toml:8: 'launches'")
    assert found[1].startswith('s.toml:12: mode: "]}#"')


def test_second_blocks_have_lines_of_their_own() -> None:
    found = problems(HEAD + PATTERN + PATTERN.replace("halo", "gather") + "within = { requests = 0 }\n")
    assert found == ["s.toml:9: requests: 0 is not an integer from 1 to 1099511627776"]


def test_invalid_study_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="longshore init"):
        load(tmp_path / "missing.toml")
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\x7fELF\xff\xfe")
    with pytest.raises(UsageError, match="not UTF-8"):
        load(binary)
    with pytest.raises(UsageError, match="directory"):
        load(tmp_path)


def test_the_template_and_the_quick_study_are_right() -> None:
    template = resources.files("longshore_study.cli").joinpath("templates/study.toml").read_text(encoding="utf-8")
    assert loads(template, "template").patterns
    quick = load(Path(__file__).parents[3] / "studies" / "quick.toml")
    places: dict[str, dict[bool, set[str]]] = {}
    levels: dict[str, set[str]] = {}
    for block in quick.patterns:
        virtual = block.between.get("ranks_per_node") == [1]
        places.setdefault(block.program, {}).setdefault(virtual, set()).update(block.between["transport"])
        for name in ("strategy", "algorithm", "mode", "exchange"):
            levels.setdefault(block.program, set()).update(block.within.get(name, []))
    here = {False: {"threads", "mpi"}}
    assert places == {"stream": here} | {name: here | {True: {"mpi"}} for name in ("gather", "halo", "sort", "ghost")}
    assert levels["gather"] == {"agp", "exstack", "conveyor", "direct", "auto"}
    assert levels["halo"] >= {"auto", "direct", "channel", "waitall", "persistent"}
    assert levels["sort"] == {"direct", "put", "alltoallv", "auto"}
    assert levels["ghost"] >= {"auto", "direct", "standard", "mpi-persistent"}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\x00\xff\xfe", "not UTF-8"),
        (b"# a\n# \xe4\n", "study.toml:2: byte 0xe4 is not UTF-8"),
        (b'\xef\xbb\xbf[study]\nnome = "x"\n', "study.toml:2: unknown key in [study]: 'nome'"),
        (
            b'[study]\nname = "x"\n[launcher]\narguments = ["a", "b\\u0000"]\n',
            'study.toml:4: the text "b\\u0000" has the character U+0000',
        ),
        (b"\x7fELF" * 100, "not valid TOML"),
        (b"a = " + b"[" * 50_000, "not valid TOML"),
        (b"a = " + b"{x = " * 50_000, "not valid TOML"),
        (b"[" + b"a." * 20_000 + b"a]\n", "study.toml:1: a key of more than 100 parts"),
        (b"#" * (5 << 20), "larger than 4 MiB"),
        (b'[study]\nname = "\\u001b]0;x\\u0007"\n', "printable"),
        (b'[study]\nname = "x"\n"\\u001b[2J" = 1\n', "unknown key"),
        (b"<script>alert(1)</script>", "not valid TOML"),
        (b'[study]\nname = "x"\nlaunches = ' + b"9" * 5000, "study.toml"),
    ],
)
def test_a_hostile_file_is_a_line_and_no_harm(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, words: str
) -> None:
    path = tmp_path / "study.toml"
    path.write_bytes(content)
    assert main(["check", str(path)]) == 64
    error = capsys.readouterr().err
    assert words in error
    assert "\x1b" not in error
    assert len(error) < 2000
    assert main(["run", str(path)]) == 64
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_launchers_and_externals_have_their_mistakes_named() -> None:
    text = """
[study]
name = "x"
[[external]]
name = "a"
command = ["a", "{rank}", "{output}"]
format = "regex"
pattern = "(a"
unit = "s"
launch = "yes"
[[external]]
name = "b"
command = ["b"]
format = "json"
pattern = "x"
path = "a..b"
figure = "f"
unit = "s"
better = "more"
[[external]]
name = "c"
command = ["c"]
format = "osuu"
[launcher]
kind = "slurm-batch"
time_limits = "1h"
nodes = 0
one_job_per = "node"
"""
    with pytest.raises(StudyFileError) as raised:
        loads(text, "s.toml")
    found = {problem.split(": ", 1)[0]: problem for problem in raised.value.problems}
    told = "\n".join(raised.value.problems)
    assert "s.toml:6: '{rank}' in the command is not a factor of between" in told
    assert "s.toml:8: 'pattern' is not a regular expression" in told
    assert "format = \"regex\" needs 'figure'" in told
    assert "s.toml:10: 'launch' is true or false" in told
    assert "s.toml:15: 'pattern' is not allowed with format = \"json\"" in told
    assert "s.toml:16: 'path': '..b'" in told or "s.toml:16: 'path'" in told
    assert "s.toml:19: 'better' is one of higher, lower" in told
    assert "s.toml:23: 'format' is one of" in told
    assert "did you mean 'osu'?" in told
    assert "s.toml:26: unknown key in [launcher]: 'time_limits'; did you mean 'time_limit'?" in told
    assert "need a time limit" in told
    assert "s.toml:27: 'nodes' must be an integer from 1" in told
    assert "s.toml:28: 'one_job_per' is one of session, nodes" in told
    assert len(found) > 8
    head = "[study]\nname = 'x'\n[[pattern]]\nprogram = 'sort'\nbetween = { ranks = 2 }\n"
    with pytest.raises(StudyFileError) as raised:
        loads(head + "[launcher]\nkind = 'slurm'\nnodes = 2\n", "s.toml")
    assert len(raised.value.problems) == 1
    assert "did you mean 'slurm-batch'?" in raised.value.problems[0]
    with pytest.raises(StudyFileError, match=r"s\.toml:7: 'jobs' is for batch systems"):
        loads(head + "[launcher]\njobs = 2\n", "s.toml")


def test_names_that_would_hide_ours_are_refused() -> None:
    external = """
[[external]]
name = "{name}"
command = ["a"]
format = "regex"
pattern = '(?P<{group}>\\d+) (?P<value>.*)'
figure = "f"
unit = "s"
between = {{ mode = ["x", "y"] }}
"""
    good = "[study]\nname = 'x'\n" + external.format(name="app", group="phase")
    assert loads(good, "s.toml").externals[0].name == "app"
    with pytest.raises(StudyFileError, match=r"s\.toml:5: 'halo' is one of our patterns"):
        loads(good.replace('"app"', '"halo"'), "s.toml")
    for taken in ("ranks", "mode"):
        with pytest.raises(StudyFileError, match=rf"s\.toml:8: 'pattern' has a group named {taken}"):
            loads(good.replace("phase", taken), "s.toml")


def test_an_empty_list_of_allowed_words_is_stated() -> None:
    problems = Problems("s.toml", {})
    table = TomlTable(problems, {"a": 1})
    table.known_keys((), "key")
    table.word("what", ())
    told = [text for _, text in problems.found]
    assert told == [
        "s.toml:1: unknown key: 'a'; none is allowed here",
        "s.toml:1: 'what' is missing; it is one of none",
    ]
