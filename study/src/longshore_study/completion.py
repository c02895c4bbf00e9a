"""What may stand at the place of the cursor. The scripts for the shells only ask: `longshore __complete WORD...`, the
last word being the one that is typed, answers with a line for each possibility, so they never grow old."""

from __future__ import annotations

import argparse
import importlib
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

_BASH = """\
_longshore() {
    local IFS=$'\\n'
    COMPREPLY=($(longshore __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
    if [ ${#COMPREPLY[@]} -eq 0 ]; then compopt -o default 2>/dev/null; fi
}
complete -F _longshore longshore
"""
_ZSH = """\
_longshore() {
    local -a found
    found=("${(@f)$(longshore __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    if [[ -n "${found[1]}" ]]; then compadd -a found; else _files; fi
}
compdef _longshore longshore
"""
_FISH = """\
function __longshore_complete
    set -l words (commandline -opc) (commandline -ct)
    longshore __complete $words[2..-1] 2>/dev/null
end
complete -c longshore -a '(__longshore_complete)'
"""
SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}


def candidates(
    words: Sequence[str], verbs: Iterable[str], parser_of: Callable[[str], argparse.ArgumentParser]
) -> list[str]:
    """What the last of `words` may become; nothing where a file name is meant."""
    typed = words[-1] if words else ""
    before = [word for word in words[:-1] if not word.startswith("--store=")]
    verb = next((word for word in before if not word.startswith("-")), None)
    if verb is None:
        return _beginning([*verbs, "--help", "--version"], typed)
    if verb not in set(verbs):
        return []
    parser = parser_of(verb)
    last = before[-1]
    option = parser._option_string_actions.get(last)  # noqa: SLF001 - argparse offers no other way to ask
    if option is not None and option.nargs != 0:
        return _beginning(_values(option, words), typed)
    if typed.startswith("-"):
        return _beginning(sorted(o for o in parser._option_string_actions if o.startswith("--")), typed)  # noqa: SLF001
    positional = [action for action in parser._actions if not action.option_strings]  # noqa: SLF001
    place = sum(not word.startswith("-") for word in before) - 1
    if not positional:
        return []
    action = positional[min(place, len(positional) - 1)]
    return _beginning(_values(action, words), typed)


def _values(action: argparse.Action, words: Sequence[str]) -> list[str]:
    if action.choices is not None:
        return [str(choice) for choice in action.choices]
    what = action.dest
    if what == "format":
        return list(importlib.import_module("longshore_study.importers").FORMATS)
    if str(action.metavar).endswith(".toml"):
        return []  # a file, which the shell completes
    if what in ("tag", "reference", "new", "names", "study", "session"):
        return _stored(what, words)
    return []


def _stored(what: str, words: Sequence[str]) -> list[str]:
    """Names in the store; an unreadable one is no reason to disturb somebody who types."""
    from longshore_study.errors import LongshoreError  # noqa: PLC0415
    from longshore_study.store import Store  # noqa: PLC0415

    given = [words[k + 1] for k, word in enumerate(words[:-1]) if word == "--store"]
    path = Path((given or [os.environ.get("LONGSHORE_STORE") or "longshore-results"])[-1])
    try:
        triples = Store(path).names()
    except LongshoreError:
        return []
    chosen = {"study": (0,), "session": (2,), "tag": (1,)}.get(what, (1, 0))
    return list(dict.fromkeys(triple[place] for place in chosen for triple in triples))


def _beginning(words: Iterable[str], typed: str) -> list[str]:
    return [word for word in words if word.startswith(typed) and word.isprintable()]
