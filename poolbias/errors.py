"""The one family of errors that a user can cause, and how a script reports them.

Each message is one sentence that names where (file and line, id or key), what was found, what is
needed and what to do.
"""


class PoolbiasError(Exception):
    """A mistake or a lack that the user can mend; shown as one sentence, without a traceback."""


class ConfigError(PoolbiasError):
    """A study file says something that cannot be run."""


class DataError(PoolbiasError):
    """A file or a record does not hold what its format promises."""


class ToolError(PoolbiasError):
    """Something that must be installed (Java, a package, a device) is missing or too old."""


class TrainingError(PoolbiasError):
    """A training cannot go on: scores that are not finite, or nothing to draw from."""
