"""One line of the doctor's report: what was found, what is needed, and how to mend it."""

import textwrap
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

GOOD, DOUBT, BAD = "good", "doubt", "bad"
WIDTH = 100


@dataclass(frozen=True, slots=True)
class Finding:
    """What was looked at and how it is.

    Attributes:
        subject: what was looked at.
        found: what is there.
        needed: what the study needs.
        state: `good`; `doubt` if the study runs but something is not as it should be; `bad` if it
            cannot run.
        fix: what to do about it; empty if all is good.
    """

    subject: str
    found: str
    needed: str
    state: str = GOOD
    fix: str = ""


def told(findings: Iterable[Finding]) -> str:
    """Return findings as text for people: a line each, and the verdict."""
    listed = list(findings)
    width = max(len(finding.subject) for finding in listed)
    lines = []
    for finding in listed:
        text = f"found {finding.found}; needed {finding.needed}"
        if finding.fix:
            text += f"; to mend it: {finding.fix}"
        start = f"{finding.state:<5}  {finding.subject:<{width}}  "
        lines += textwrap.wrap(
            text,
            WIDTH,
            initial_indent=start,
            subsequent_indent=" " * len(start),
            break_on_hyphens=False,
            break_long_words=False,
        )
    counts = Counter(finding.state for finding in listed)
    verdict = "cannot run" if counts[BAD] else "can run"
    total = ", ".join(f"{counts[state]} {state}" for state in (GOOD, DOUBT, BAD))
    return "\n".join([*lines, "", f"The study {verdict} on this machine: {total}."]) + "\n"
