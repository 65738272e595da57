"""Commands without a network, whose attempts to reach one are written down."""

import functools
import os
import subprocess

# Loaded by every Python that is started with it on PYTHONPATH.
WATCH = """\
import errno, os, sys

def watch(event, arguments):
    if event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.connect", "socket.sendto"):
        if event in ("socket.connect", "socket.sendto") and arguments[0].family.name == "AF_UNIX":
            return
        with open(os.environ["POOLBIAS_ATTEMPTS"], "a") as file:
            file.write(f"{event} {arguments[1:]} by {sys.argv}\\n")
        raise OSError(errno.ENETUNREACH, os.strerror(errno.ENETUNREACH))

sys.addaudithook(watch)
"""


@functools.cache
def prefix():
    """Return the words that start a command in a network namespace of its own, if allowed here."""
    words = ("unshare", "--net", "--map-root-user")
    try:
        subprocess.run([*words, "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return ()
    return words


def environment(folder):
    """Return variables under which every Python writes its attempts to `folder/attempts.txt`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sitecustomize.py").write_text(WATCH)
    (folder / "attempts.txt").touch()
    paths = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {
        "PYTHONPATH": os.pathsep.join(paths),
        "POOLBIAS_ATTEMPTS": str(folder / "attempts.txt"),
    }
