"""The errors of Longshore: one class for each kind, each also the built-in exception that it
resembles."""

from __future__ import annotations


class Error(RuntimeError):
    """What every error of the library is; its text says what happened, on which rank, and what to
    do."""


class UsageError(Error, ValueError):
    """The caller asked for something that makes no sense; nothing was done."""


class UnsupportedError(Error, NotImplementedError):
    """It makes sense, but not on this transport, in this build or on this machine."""


class OutOfMemoryError(Error, MemoryError):
    """The memory asked for is not there."""


class DeadlineError(Error, TimeoutError):
    """A wait passed its deadline (LONGSHORE_TIMEOUT)."""


class PeerFailedError(Error):
    """Another rank of the team failed first; its error is the one to read."""


class TransportError(Error):
    """The library underneath (MPI, ...) reported an error."""
