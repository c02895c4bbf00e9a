"""The folder of results of commands without --store."""

import os
from pathlib import Path


def default_store() -> Path:
    return Path(os.environ.get("LONGSHORE_STORE") or "longshore-results")


def store_option(store: Path) -> list[str]:
    """The words of a command that use this store. None for the default."""
    return [] if store.resolve() == default_store().resolve() else ["--store", str(store)]
