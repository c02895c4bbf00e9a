"""Candidates for completion. The scripts for the shells only call `longshore __complete WORD...`,
where the last word is the one being typed. The answer has one candidate per line, so the scripts
never become outdated."""

from __future__ import annotations

import argparse
import importlib
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from longshore_study.base.errors import LongshoreError, UsageError
from longshore_study.cli.arguments import split_arguments

# Readline splits words at `:` and `=`, as in the tag img:1. The script joins the pieces, and
# inserts only the part of a candidate that follows the earlier pieces. It quotes names, since they
# come from files and the shell would interpret them.
_BASH = """\
_longshore() {
    local piece before rest="$COMP_LINE" whole="" cut="" name k
    local -a words=() found=()
    for ((k = 0; k <= COMP_CWORD; k++)); do
        piece="${COMP_WORDS[k]}"
        before="${rest%%"$piece"*}"
        rest="${rest#*"$piece"}"
        if [[ -z "$before" && ( "$piece" == [:=]* || "$whole" == *[:=] ) ]] &&
            [[ -n "$piece" || "$rest" != [[:space:]]* ]]
        then cut="$whole" whole="$whole$piece"
        else cut="" whole="$piece" words+=("")
        fi
        words[-1]="${whole//[\\\\\\"\\']/}"
    done
    [[ "$piece" == +([:=]) ]] && cut="$whole"
    cut="${cut//[\\\\\\"\\']/}"
    mapfile -t found < <(longshore __complete "${words[@]:1}" 2>/dev/null)
    COMPREPLY=()
    for name in "${found[@]}"; do
        [[ -n "$name" ]] || continue
        name="${name#"$cut"}"
        case "$piece" in
            [\\"\\']*) [[ "$name" == *[\\\\\\"\\'\\$\\`]* ]] || COMPREPLY+=("$name") ;;
            *) COMPREPLY+=("$(printf %q "$name")") ;;
        esac
    done
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
    words: Sequence[str], commands: Iterable[str], parser_of: Callable[[str], argparse.ArgumentParser]
) -> list[str]:
    """Completions of the last of `words`. Empty if the shell should complete a file name."""
    typed = words[-1] if words else ""
    try:
        command, before = split_arguments(words[:-1])
    except UsageError:
        return []
    if command is None:
        return _beginning([*commands, "--help", "--version"], typed)
    if command not in set(commands):
        return []
    parser = parser_of(command)
    option, before, actions = _place(parser, before)
    store = _store_of(words)
    if option is None and typed.startswith("-"):
        name, equals, _ = typed.partition("=")
        known = parser._option_string_actions  # noqa: SLF001 - argparse has no public access
        if equals and name in known:
            return _beginning((f"{name}={value}" for value in _values(command, known[name], before, store)), typed)
        return _beginning(sorted(o for o in known if o.startswith("--")), typed)
    action = option or _positional(actions, len(before))
    return _beginning(_values(command, action, before, store), typed) if action else []


def _place(
    parser: argparse.ArgumentParser, words: Sequence[str]
) -> tuple[argparse.Action | None, list[str], list[argparse.Action]]:
    """The option that needs a value next, if any; the positional words; and the positional
    arguments of the parser."""
    known = parser._option_string_actions  # noqa: SLF001
    option, waits = None, 0
    positional = []
    for word in words:
        if waits:
            waits -= 1
        elif word.startswith("-"):
            option = known.get(word)
            takes = 0 if option is None else option.nargs
            waits = takes if isinstance(takes, int) else 1
        else:
            positional.append(word)
    actions = [action for action in parser._actions if not action.option_strings]  # noqa: SLF001
    return (option if waits else None), positional, actions


def _positional(actions: Sequence[argparse.Action], place: int) -> argparse.Action | None:
    if place < len(actions):
        return actions[place]
    return actions[-1] if actions and actions[-1].nargs in ("*", "+") else None


def _values(command: str, action: argparse.Action, positional: Sequence[str], store: Path) -> list[str]:
    if action.choices is not None:
        return [str(choice) for choice in action.choices]
    what = action.dest
    if what == "format":
        return list(importlib.import_module("longshore_study.importers.formats").FORMATS)
    if str(action.metavar).endswith(".toml"):
        return []  # a file, which the shell completes
    if command == "stacks":
        return _stacks() if what == "names" and positional[:1] == ["build"] else []
    if what in ("tag", "reference", "new", "names", "compare", "study", "studies", "session"):
        return _stored(what, store)
    return []


def _stacks() -> list[str]:
    from longshore_study.host.stack_builds import keep_names  # noqa: PLC0415
    from longshore_study.host.stacks import MPI, find_stacks  # noqa: PLC0415 - it runs programs

    return ["all", *(stack.name for stack in keep_names(find_stacks()) if stack.what == MPI)]


def _store_of(words: Sequence[str]) -> Path:
    given = [words[k + 1] for k, word in enumerate(words[:-1]) if word == "--store"]
    given += [word.partition("=")[2] for word in words if word.startswith("--store=")]
    return Path((given or [os.environ.get("LONGSHORE_STORE") or "longshore-results"])[-1]).expanduser()


def _stored(what: str, path: Path) -> list[str]:
    """Names in the store. Empty if the store is unreadable."""
    from longshore_study.store.launch_store import Store  # noqa: PLC0415

    try:
        triples = Store(path).names()
    except (LongshoreError, OSError):
        return []
    chosen = {"study": (0,), "studies": (0,), "session": (2,), "tag": (1,)}.get(what, (1, 0))
    return list(dict.fromkeys(triple[place] for place in chosen for triple in triples))


def _beginning(words: Iterable[str], typed: str) -> list[str]:
    return [word for word in words if word.startswith(typed) and word.isprintable()]
