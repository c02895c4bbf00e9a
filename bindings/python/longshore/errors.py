"""The exceptions of Longshore: one class for each kind of error.

Each class also derives from the built-in exception that it resembles.
"""

from __future__ import annotations


class Error(RuntimeError):
    """The base class of all errors of the library.

    The text says what happened, on which rank, and what to do.
    """


class UsageError(Error, ValueError):
    """An argument or a call is wrong; the call had no effect."""


class UnsupportedError(Error, NotImplementedError):
    """The call is right, but this transport, build or machine does not support it."""


class OutOfMemoryError(Error, MemoryError):
    """The requested memory is not available."""


class DeadlineError(Error, TimeoutError):
    """A wait exceeded its deadline (LONGSHORE_TIMEOUT)."""


class PeerFailedError(Error):
    """Another rank of the team failed first; read the error of that rank."""


class TransportError(Error):
    """The communication library (MPI, OpenSHMEM, UCX) reported an error."""
