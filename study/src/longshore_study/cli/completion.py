"""Candidates for the completion of command lines. The scripts for the shells only call `longshore
__complete WORD...`, whose last word is the incomplete word, and read one candidate per line. The
scripts therefore never become outdated."""

from __future__ import annotations

import argparse
import importlib
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from longshore_study.base.errors import LongshoreError, UsageError
from longshore_study.cli.arguments import split_arguments

# Readline splits words at `:` and `=`, for instance the tag img:1. The script joins the pieces, and
# inserts only the part of a candidate after the earlier pieces. The script quotes candidates,
# because their names come from files and the shell would interpret them. Patterns such as +([:=])
# work in [[ ]] without `shopt -s extglob`.
_BASH = """\
_longshore() {
    # whole: the current word, joined from pieces. cut: the part of the word in front of the last
    # piece, which bash does not replace. gap: the text between two pieces.
    local piece gap rest="$COMP_LINE" whole="" cut="" name k
    local -a words=() found=()
    for ((k = 0; k <= COMP_CWORD; k++)); do
        piece="${COMP_WORDS[k]}"
        gap="${rest%%"$piece"*}"
        rest="${rest#*"$piece"}"
        # A piece continues the word if no space is in front of it and readline split the word here.
        # The gap in front of an empty piece is always empty, so the text behind it counts instead.
        if [[ -z "$gap" && ( "$piece" == [:=]* || "$whole" == *[:=] ) ]] &&
            [[ -n "$piece" || "$rest" != [[:space:]]* ]]
        then cut="$whole" whole="$whole$piece"
        else cut="" whole="$piece" words+=("")
        fi
        # longshore gets the words without quotes and backslashes.
        words[-1]="${whole//[\\\\\\"\\']/}"
    done
    # If the last piece is a separator, bash inserts the candidate behind the separator.
    [[ "$piece" == +([:=]) ]] && cut="$whole"
    cut="${cut//[\\\\\\"\\']/}"
    mapfile -t found < <(longshore __complete "${words[@]:1}" 2>/dev/null)
    COMPREPLY=()
    for name in "${found[@]}"; do
        [[ -n "$name" ]] || continue
        name="${name#"$cut"}"
        # After an opening quote, a candidate that these quotes do not protect is not offered.
        case "$piece" in
            [\\"\\']*) [[ "$name" == *[\\\\\\"\\'\\$\\`]* ]] || COMPREPLY+=("$name") ;;
            *) COMPREPLY+=("$(printf %q "$name")") ;;
        esac
    done
    # Without candidates, bash completes names of files.
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
_STORED_NAMES = {
    "study": ("study",),
    "studies": ("study",),
    "tag": ("tag",),
    "session": ("session",),
    "reference": ("tag", "study"),
    "new": ("tag", "study"),
    "compare": ("tag", "study"),
    "names": ("tag", "study"),
}
"""By name of an argument (`dest`), the kinds of stored names that the argument accepts."""
SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}


def candidates(
    words: Sequence[str], commands: Iterable[str], parser_of: Callable[[str], argparse.ArgumentParser]
) -> list[str]:
    """Completions of the last of `words`. Empty if the shell should complete a file name."""
    typed = words[-1] if words else ""
    try:
        command, arguments = split_arguments(words[:-1])
    except UsageError:
        return []
    if command is None:
        return _beginning([*commands, "--help", "--version"], typed)
    if command not in set(commands):
        return []
    parser = parser_of(command)
    option, positional_words = _option_and_words(parser, arguments)
    store = _store_of(words)
    if option is None and typed.startswith("-"):
        name, equals, _ = typed.partition("=")
        known = parser._option_string_actions  # noqa: SLF001 - argparse has no public access
        if equals and name in known:
            values = _accepted_values(command, known[name], positional_words, store)
            return _beginning((f"{name}={value}" for value in values), typed)
        return _beginning(sorted(o for o in known if o.startswith("--")), typed)
    action = option or _positional_argument(parser, len(positional_words))
    return _beginning(_accepted_values(command, action, positional_words, store), typed) if action else []


def _option_and_words(
    parser: argparse.ArgumentParser, words: Sequence[str]
) -> tuple[argparse.Action | None, list[str]]:
    """The option whose value is the next word, or None; and the words that are neither options nor
    their values."""
    known = parser._option_string_actions  # noqa: SLF001
    option, missing_values = None, 0
    positional_words = []
    for word in words:
        if missing_values:
            missing_values -= 1
        elif word.startswith("-"):
            option = known.get(word)
            nargs = 0 if option is None else option.nargs
            # argparse has None for one value. `+` or `*` count as one value, too.
            missing_values = nargs if isinstance(nargs, int) else 1
        else:
            positional_words.append(word)
    return (option if missing_values else None), positional_words


def _positional_argument(parser: argparse.ArgumentParser, index: int) -> argparse.Action | None:
    """The argument to which the positional word with this index belongs; None if the parser takes
    fewer words. The last argument may take all further words."""
    actions = [action for action in parser._actions if not action.option_strings]  # noqa: SLF001
    if index < len(actions):
        return actions[index]
    return actions[-1] if actions and actions[-1].nargs in ("*", "+") else None


def _accepted_values(command: str, action: argparse.Action, positional_words: Sequence[str], store: Path) -> list[str]:
    """The values that an option or argument accepts; empty if they are names of files or not known.
    `positional_words` has the positional words before the incomplete word."""
    if action.choices is not None:
        return [str(choice) for choice in action.choices]
    argument = action.dest
    if argument == "format":
        return list(importlib.import_module("longshore_study.importers.formats").FORMATS)
    if str(action.metavar).endswith(".toml"):
        return []  # the shell completes names of files
    if command == "stacks":
        return _stacks() if argument == "names" and positional_words[:1] == ["build"] else []
    return _stored(_STORED_NAMES[argument], store) if argument in _STORED_NAMES else []


def _stacks() -> list[str]:
    from longshore_study.host.stack_builds import with_unique_names  # noqa: PLC0415
    from longshore_study.host.stacks import MPI, find_stacks  # noqa: PLC0415 - it runs programs

    return ["all", *(stack.name for stack in with_unique_names(find_stacks()) if stack.what == MPI)]


def _store_of(words: Sequence[str]) -> Path:
    """The folder of results that the command line names, else LONGSHORE_STORE, else the default."""
    given = [words[k + 1] for k, word in enumerate(words[:-1]) if word == "--store"]
    given += [word.partition("=")[2] for word in words if word.startswith("--store=")]
    return Path((given or [os.environ.get("LONGSHORE_STORE") or "longshore-results"])[-1]).expanduser()


def _stored(kinds: Sequence[str], path: Path) -> list[str]:
    """The names of these kinds in the store. Empty if the store is unreadable."""
    from longshore_study.store.launch_store import Store  # noqa: PLC0415

    try:
        stored = [dict(zip(("study", "tag", "session"), names, strict=True)) for names in Store(path).names()]
    except (LongshoreError, OSError):
        return []
    return list(dict.fromkeys(names[kind] for kind in kinds for names in stored))


def _beginning(words: Iterable[str], typed: str) -> list[str]:
    return [word for word in words if word.startswith(typed) and word.isprintable()]
