"""The error that ends a release."""


class ReleaseError(Exception):
    """The release cannot be made. The message says what to do."""
