"""Generated collections in exactly the official file formats, small enough for tests."""

import gzip
import io
import json
import random
import tarfile
from pathlib import Path

WORDS = [f"term{n}" for n in range(50)]


class Official:
    """Writes official files into a folder; ids, texts and judgements are drawn by a seed."""

    def __init__(self, folder, seed=1, documents=60, training=16, tested=6):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.random = random.Random(seed)
        self.documents, self.training, self.tested = documents, training, tested

    def text(self, count):
        return " ".join(self.random.choices(WORDS, k=count))

    def gz(self, name, text):
        (self.folder / name).write_bytes(gzip.compress(text.encode(), mtime=0))

    def tar(self, name, members):
        with tarfile.open(self.folder / name, "w:gz") as archive:
            for member, text in members.items():
                content = text.encode()
                info = tarfile.TarInfo(member)
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))

    def judged(self, queries, documents, grades):
        """Return lines of TREC qrels: documents of each query, one for each of the grades."""
        lines = []
        for query in queries:
            chosen = self.random.sample(documents, len(grades))
            lines += [f"{query} 0 {d} {g}" for d, g in zip(chosen, grades, strict=True)]
        return "\n".join(lines) + "\n"

    def queries(self, first, count):
        return {str(first + n): self.text(3) for n in range(count)}

    def deep(self, kind, documents, year, first, sets):
        """Write a TREC Deep Learning year: 200 queries in truth, some of them judged."""
        held = self.queries(first, self.tested + 2)
        table = "".join(f"{q}\t{t}\n" for q, t in held.items())
        self.gz(f"msmarco-test{year}-queries.tsv.gz", table)
        judged = list(held)[: self.tested]
        lines = self.judged(judged, documents, [3, 2, 1, 0, 0])
        if kind == "pass":
            lines = lines.replace(" 0 ", " Q0 ", 1).replace(" 0 ", " Q0 ")
            rows = "".join(
                f"{q}\t{d}\t{held[q]}\ttext\n"
                for q in held
                for d in self.random.sample(documents, 20)
            )
            self.gz(f"msmarco-passagetest{year}-top1000.tsv.gz", rows)
        else:
            self.gz(f"msmarco-doctest{year}-top100.gz", self.run(held, documents))
        (self.folder / f"{year}qrels-{kind}.txt").write_text(lines)
        sets[year] = judged
        return held

    def run(self, queries, documents, tag="IndriQueryLikelihood"):
        return "".join(
            f"{q} Q0 {d} {rank} {-5 - rank / 10:.5f} {tag}\n"
            for q in queries
            for rank, d in enumerate(self.random.sample(documents, 20), start=1)
        )

    def passages(self):
        """Write MS MARCO's passages and TREC Deep Learning's files; return what they hold."""
        ids = [str(n) for n in range(self.documents)]
        collection = {n: self.text(12) for n in ids}
        collection["0"] = "Itâ€™s " + collection["0"]
        train, dev = self.queries(1000, self.training), self.queries(5000, self.tested)
        first = {q: self.random.choice(ids) for q in [*train, *dev]}
        members = {
            "collection.tsv": "".join(f"{n}\t{text}\n" for n, text in collection.items()),
            "queries.train.tsv": "".join(
                f"{q}\t{t}\n" for q, t in {**train, "9999": "x y"}.items()
            ),
            "queries.dev.small.tsv": "".join(f"{q}\t{t}\n" for q, t in dev.items()),
            "qrels.train.tsv": "".join(f"{q}\t0\t{first[q]}\t1\n" for q in train),
            "qrels.dev.small.tsv": "".join(f"{q}\t0\t{first[q]}\t1\n" for q in dev),
        }
        self.tar("collectionandqueries.tar.gz", members)
        sets = {"train": list(train), "dev-small": list(dev)}
        for year, start in ((2019, 20_000), (2020, 30_000)):
            self.deep("pass", ids, year, start, sets)
        for name, held in (("train", train), ("dev", dev)):
            rows = [
                f"{q}\t{d}\t{t}\t{collection[d]}\n"
                for q, t in held.items()
                for d in {first[q], *self.random.sample(ids, 20)}
            ]
            self.random.shuffle(rows)  # the official files are in random order
            self.tar(f"top1000.{name}.tar.gz", {f"top1000.{name}": "".join(rows)})
        return {"documents": collection, "sets": sets, "first": first}

    def web_documents(self):
        """Write MS MARCO's documents and TREC Deep Learning's document files."""
        ids = [f"D{n}" for n in range(self.documents)]
        records = {n: (f"http://{n}.org/", self.text(3), self.text(30)) for n in ids}
        trec = "".join(
            f"<DOC>\n<DOCNO>{n}</DOCNO>\n<TEXT>\n{url}\n{title}\n{body}\nlast line\n"
            "</TEXT>\n</DOC>\n"
            for n, (url, title, body) in records.items()
        )
        self.gz("msmarco-docs.trec.gz", trec)
        sets = {}
        for name, first, count in (("train", 1000, self.training), ("dev", 5000, self.tested)):
            held = self.queries(first, count)
            sets[name] = list(held)
            table = "".join(f"{q}\t{t}\n" for q, t in held.items())
            self.gz(f"msmarco-doc{name}-queries.tsv.gz", table)
            self.gz(f"msmarco-doc{name}-qrels.tsv.gz", self.judged(held, ids, [1]))
            self.gz(f"msmarco-doc{name}-top100.gz", self.run(held, ids))
        self.deep("docs", ids, 2019, 20_000, sets)
        return {"documents": records, "sets": sets}

    def dureader(self):
        """Write the archive of DuReader_retrieval."""
        texts = ["段落" + "".join(self.random.choices("天地玄黄宇宙洪荒日月盈昃", k=12)) + str(n)
                 for n in range(self.documents)]  # fmt: skip
        ids = [f"{self.random.getrandbits(128):032x}" for _ in texts]
        quarter = -(-len(texts) // 4)
        members = {
            f"passage-collection/part-{part:02}": "".join(
                f"-\t-\t{text}\t0\n" for text in texts[part * quarter : (part + 1) * quarter]
            )
            for part in range(4)
        }
        map_of = {str(n): name for n, name in enumerate(ids)}
        members["passage-collection/passage2id.map.json"] = json.dumps(map_of)
        train = {f"问题{n}": self.random.sample(texts, 2) for n in range(self.training)}
        members["train/dual.train.tsv"] = "".join(
            f"{query}\t\t{positive}\t\t{self.random.choice(texts)}\t0\n"
            for query, positives in train.items()
            for positive in positives
        )
        dev = {
            f"{n:032x}": (f"查询{n}", self.random.sample(range(len(ids)), 3))
            for n in range(self.tested)
        }
        members["dev/dev.json"] = "".join(
            json.dumps(
                {
                    "question_id": name,
                    "question": text,
                    "answer_paragraphs": [
                        {"paragraph_id": ids[n], "paragraph_text": texts[n]} for n in relevant
                    ],
                },
                ensure_ascii=False,
            )
            + "\n"
            for name, (text, relevant) in dev.items()
        )
        self.tar(
            "dureader-retrieval-baseline-dataset.tar.gz",
            {f"dureader-retrieval-baseline-dataset/{name}": text for name, text in members.items()},
        )
        return {"ids": ids, "texts": texts, "train": train, "dev": dev}

    def dpr(self, name):
        """Write DPR's files of Natural Questions (`nq`) or TriviaQA (`trivia`)."""
        passages = {str(n + 1): (self.text(10), f"Title {n}") for n in range(self.documents)}
        rows = "".join(f'{n}\t"{text}"\t{title}\n' for n, (text, title) in passages.items())
        self.gz("psgs_w100.tsv.gz", "id\ttext\ttitle\n" + rows)
        key = {"nq": "passage_id", "trivia": "psg_id"}[name]

        def record(positives):
            contexts = [
                {"title": passages[n][1], "text": passages[n][0], "score": 1, key: n}
                for n in positives
            ]
            return {
                "question": self.text(5), "answers": ["x"], "positive_ctxs": contexts,
                "negative_ctxs": [], "hard_negative_ctxs": [],
            }  # fmt: skip

        held = {}
        for split, count in (("train", self.training), ("dev", self.tested)):
            drawn = [self.random.sample(list(passages), 2) for _ in range(count)]
            drawn[1] = []  # some records have no positive
            held[split] = drawn
            self.gz(
                f"biencoder-{name}-{split}.json.gz", json.dumps([*map(record, drawn)], indent=4)
            )
        return {"passages": passages, "sets": held}
