"""`longshore completion`: prints the script with which a shell completes command lines."""

import argparse

import argcomplete

from longshore_study.cli.result_output import print_result

SHELLS = ("bash", "zsh", "fish")
EXAMPLES = """examples:
  source <(longshore completion bash)                                     in ~/.bashrc
  source <(longshore completion zsh)                                      in ~/.zshrc, after compinit
  longshore completion fish > ~/.config/fish/completions/longshore.fish

The Tab key then completes commands, options, formats, and the tags, studies and sessions of the store."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", metavar="SHELL", choices=SHELLS, help="bash, zsh or fish")


def run(args: argparse.Namespace) -> int:
    script = argcomplete.shellcode(["longshore"], shell=args.shell)
    return print_result(args, lambda: {"schema": 1, "shell": args.shell, "script": script}, lambda: print(script))
