"""What must fit together in the rankers of a study file."""

import re
from collections.abc import Iterator, Mapping

from poolbias.config.model import CrossEncoder, SequenceRanker
from poolbias.config.problems import Problem, shown, unknown
from poolbias.config.rankers import AnyRanker, CedrKnrmRanker, ParadeMaxRanker, PartsRanker

LONGEST_SEQUENCE = 512  # positions of the encoders
MINILM = "all-MiniLM-L6-v2"
MINILM_LAYERS = 6
CHECKPOINT_ID = r"[A-Za-z0-9][A-Za-z0-9_.-]*/[A-Za-z0-9][A-Za-z0-9_.-]*"


def check(rankers: Mapping[str, AnyRanker], device: str) -> Iterator[Problem]:
    """Yield a problem for each number of a ranker that does not fit another, or the device."""
    for name, ranker in rankers.items():
        if device == "cuda" and getattr(ranker, "engine", "plain") == "packed":
            yield Problem(
                ("rankers", name, "engine"),
                "found 'packed', which runs on a CPU only, need 'plain' where device is cuda; "
                "write it.",
            )
        if isinstance(ranker, CrossEncoder):
            yield from _start(name, ranker)
        if isinstance(ranker, CedrKnrmRanker) and ranker.first_stage is not None:
            yield from _first_stage(name, ranker, rankers)
        place = ("rankers", name, "sequence_tokens")
        if isinstance(ranker, PartsRanker):  # their bounds see to it
            continue
        if ranker.sequence_tokens is None:
            total = ranker.query_tokens + ranker.document_tokens + 3
            if total > LONGEST_SEQUENCE:
                yield Problem(
                    ("rankers", name, "document_tokens"),
                    f"found sequences of up to {total} word pieces (query_tokens, document_tokens "
                    f"and 3 special tokens), need at most {LONGEST_SEQUENCE}; lower one or set "
                    "sequence_tokens.",
                )
        elif ranker.sequence_tokens < ranker.query_tokens + 4:
            yield Problem(
                place,
                f"found {ranker.sequence_tokens}, need at least {ranker.query_tokens + 4}: "
                f"query_tokens ({ranker.query_tokens}), 3 special tokens and one of the document; "
                "raise it or lower query_tokens.",
            )


def _start(name: str, ranker: CrossEncoder) -> Iterator[Problem]:
    if ranker.start != MINILM and not re.fullmatch(CHECKPOINT_ID, ranker.start):
        yield Problem(
            ("rankers", name, "start"),
            f"found {shown(ranker.start)}, need {MINILM} or the id of a published checkpoint, "
            "owner/name; correct the value.",
        )
    if ranker.start == MINILM and (ranker.layers or 0) > MINILM_LAYERS:
        yield Problem(
            ("rankers", name, "layers"),
            f"found {ranker.layers}, need at most {MINILM_LAYERS}, the layers of {MINILM}; lower "
            "it.",
        )
    if isinstance(ranker, ParadeMaxRanker) and ranker.stride_tokens > ranker.part_tokens:
        yield Problem(
            ("rankers", name, "stride_tokens"),
            f"found {ranker.stride_tokens}, need at most part_tokens ({ranker.part_tokens}), so "
            "that no word piece is left out; lower it.",
        )


def _first_stage(
    name: str, ranker: CedrKnrmRanker, rankers: Mapping[str, AnyRanker]
) -> Iterator[Problem]:
    """Yield a problem if the first stage is not a plain ranker over the same encoder."""
    place = ("rankers", name, "first_stage")
    plain = {key: other for key, other in rankers.items() if isinstance(other, SequenceRanker)}
    first = plain.get(str(ranker.first_stage))
    if first is None:
        yield Problem(place, unknown("ranker `bert`", ranker.first_stage, plain))
    elif (first.start, first.layers) != (ranker.start, ranker.layers):
        yield Problem(
            place,
            f"found {shown(ranker.first_stage)} with start {first.start} and layers "
            f"{shown(first.layers)}, need those of this ranker ({ranker.start}, "
            f"{shown(ranker.layers)}), whose encoder it becomes; make them equal.",
        )
