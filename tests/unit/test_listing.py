import json

from poolbias.evaluation.listing import pack, unpack

RUN = {"experiment": "run", "retriever": "bm25", "seed": 0, "judgements": "truth"}


def ranking(experiment, seed, judgements):
    path = f"results/metrics/rankings/{experiment}/seed-{seed}/dense/test.{judgements}.tsv"
    about = {"experiment": experiment, "retriever": "dense", "seed": seed}
    return about | {"judgements": judgements, "path": path}


SYSTEMS = [RUN | {"path": "results/metrics/runs/hpo/bm25/test.truth.tsv"}] + [
    ranking(f"hpo.dense.cet-{number}", seed, judgements)
    for number in range(100)
    for judgements in ("truth", "labels")
    for seed in (1, 2, 3, 4, 5)
]


def test_what_was_packed_comes_out_and_takes_less_room():
    packed = json.loads(json.dumps(pack(SYSTEMS)))
    assert unpack(packed) == SYSTEMS
    assert len(json.dumps(packed)) < len(json.dumps(SYSTEMS)) / 8
    assert packed["templates"] == [
        "results/metrics/runs/hpo/bm25/test.truth.tsv",
        "results/metrics/rankings/<experiment>/seed-<seed>/dense/test.truth.tsv",
        "results/metrics/rankings/<experiment>/seed-<seed>/dense/test.labels.tsv",
    ]


def test_systems_that_differ_in_anything_but_seed_and_judgements_are_rows_of_their_own():
    other = SYSTEMS[1] | {"retriever": "bm25"}
    assert unpack(pack([SYSTEMS[1], other, SYSTEMS[2]])) == [SYSTEMS[1], SYSTEMS[2], other]
