"""The log of a stage: to standard error, and in full to a file."""

import contextlib
import logging
from collections.abc import Iterator
from pathlib import Path

log = logging.getLogger("poolbias")


class LogFile(logging.FileHandler):
    """A log file that stops no job: a full disk is told of where a result is written."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 (logging's name)
        """Do nothing about a line that cannot be written."""

    def close(self) -> None:
        """Close the file, whether or not its last lines can be written."""
        with contextlib.suppress(OSError):
            super().close()


@contextlib.contextmanager
def logging_to(path: Path | None) -> Iterator[None]:
    """Log to standard error, and at every level to `path` (if given), within the block."""
    handlers: list[logging.Handler] = [logging.StreamHandler()]
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        handlers.append(LogFile(path, mode="w", encoding="utf-8"))
    for handler in handlers:
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
        log.addHandler(handler)
    handlers[0].setLevel(logging.INFO)  # a log file also tells parameters and versions
    log.setLevel(logging.DEBUG)
    log.propagate = False
    try:
        yield
    finally:
        for handler in handlers:
            log.removeHandler(handler)
            handler.close()
