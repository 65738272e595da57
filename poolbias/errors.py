"""The one family of errors that a user can cause, and how a script reports them.

Each message is one sentence that names where (file and line, id or key), what was found, what is
needed and what to do.
"""

import errno

_REMEDIES = {
    errno.ENOSPC: "free some space (results/checkpoints/ may go) and start again",
    errno.EDQUOT: "free some space of your quota and start again",
    errno.EFBIG: "raise the limit on a file's size (ulimit -f) and start again",
    errno.EROFS: "make the folder writable, or give another one",
    errno.EACCES: "make it readable and writable for you, or give another one",
    errno.EPERM: "make it readable and writable for you, or give another one",
}


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


def told(error: OSError) -> str:
    """Return the sentence that tells of a disk, a file or a right that the system refused."""
    where = error.filename or "a file"
    reason = error.strerror or str(error) or "the system refused it"
    remedy = _REMEDIES.get(error.errno or 0, "mend that and start again")
    return f"{where}: {reason}; {remedy}."
