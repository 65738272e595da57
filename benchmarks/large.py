"""Token store and draws at the paper's scale, on synthetic texts: `python -m benchmarks.large`.

Prints predicted and found bytes of the token store, the time to make it in shards, peak memory of
the process that draws, and triples drawn a second with their tokens gathered.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from poolbias import token_shards
from poolbias.candidates import Candidates, Writer
from poolbias.models.pretrained import tokenizer_of
from poolbias.tokens import Limits, TokenStore, read_tokenizer
from poolbias.training.draws import Drawer

START = "all-MiniLM-L6-v2"
MEAN, SPREAD = 56.0, 0.45  # words of a text: log-normal, MS MARCO's passages in size (our choice)
BLOCK = 20_000
WORDS = 20_000


def main() -> None:
    """Run the benchmark and print its numbers."""
    parser = argparse.ArgumentParser(description=str(__doc__))
    parser.add_argument("--documents", type=int, default=200_000)
    parser.add_argument("--queries", type=int, default=20_000)
    parser.add_argument("--candidates", type=int, default=1000)
    parser.add_argument("--shards", type=int, default=4)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument(
        "--folder", type=Path, help="where to work; a temporary folder if not given"
    )
    parser.add_argument("--draw", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.draw:
        draw(chosen.draw)
        return
    with tempfile.TemporaryDirectory(dir=chosen.folder) as name:
        folder = Path(name)
        make_texts(folder, chosen.documents, chosen.queries)
        make_tokens(folder, chosen.shards, chosen.workers)
        make_candidates(folder, chosen.documents, chosen.queries, chosen.candidates)
        module = [sys.executable, "-m", "benchmarks.large", "--draw", str(folder)]
        subprocess.run(module, check=True)


def make_texts(folder: Path, documents: int, queries: int) -> None:
    """Write tables of texts whose words are drawn by rank, as Zipf's law has it."""
    generator = np.random.default_rng(1)
    pieces = [line for line in read_tokenizer(tokenizer_of(START)).get_vocab() if line.isalpha()]
    words = np.array(sorted(pieces)[:WORDS])
    for name, count, mean in (("documents", documents, MEAN), ("queries", queries, 6.0)):
        with (folder / f"{name}.tsv").open("w", encoding="utf-8") as file:
            file.write(f"{name[:-1]}_id\ttext\n")
            for start in range(0, count, BLOCK):
                size = min(BLOCK, count - start)
                lengths = generator.lognormal(np.log(mean) - SPREAD**2 / 2, SPREAD, size)
                lengths = np.maximum(lengths.round().astype(int), 1)
                rows = np.minimum(generator.zipf(1.3, lengths.sum()) - 1, len(words) - 1)
                ends = np.cumsum(lengths)
                text = words[rows]
                file.writelines(
                    f"{start + n}\t{' '.join(text[end - length : end])}\n"
                    for n, (end, length) in enumerate(zip(ends, lengths, strict=True))
                )


def shard(given: tuple[Path, int, int]) -> float:
    """Make one shard of tokens; return its number of tokens."""
    folder, number, shards = given
    tokenizer = read_tokenizer(tokenizer_of(START))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    part = folder / f"shard-{number}"
    told = token_shards.build_shard(folder / "documents.tsv", number, shards, tokenizer, part)
    return told["tokens"]


def make_tokens(folder: Path, shards: int, workers: int) -> None:
    """Make the token store in shards and compare its size with the predicted one."""
    began = time.monotonic()
    with get_context("spawn").Pool(workers) as pool:
        tokens = sum(pool.map(shard, [(folder, number, shards) for number in range(shards)]))
    tokenizer = read_tokenizer(tokenizer_of(START))
    parts = [folder / f"shard-{number}" for number in range(shards)]
    figures = token_shards.join(parts, folder / "queries.tsv", tokenizer, folder / "tokens")
    seconds = time.monotonic() - began
    documents = int(figures["documents"])
    found = sum(
        (folder / "tokens" / f"documents.{n}.npy").stat().st_size for n in ("ids", "offsets")
    )
    predicted = token_shards.bytes_of(documents, tokens / documents)
    out(
        f"tokens: {documents} documents, {tokens / documents:.1f} word pieces each, {seconds:.0f} s"
    )
    out(f"size: predicted {predicted}, found {found} bytes")


def make_candidates(folder: Path, documents: int, queries: int, each: int) -> None:
    """Write a table of equally likely candidates, one labelled document a query."""
    generator = np.random.default_rng(2)
    table = folder / "candidates"
    table.mkdir()
    writer = Writer(table)
    for start in range(0, queries, BLOCK):
        size = min(BLOCK, queries - start)
        writer.append(
            Candidates(
                query_rows=np.arange(start, start + size, dtype=np.int32),
                offsets=np.arange(size + 1, dtype=np.int64) * each,
                documents=generator.integers(documents, size=size * each, dtype=np.int32),
                ranks=np.tile(np.arange(1, each + 1, dtype=np.int32), size),
                probability=np.full(size * each, 1 / each, dtype=np.float32),
                positive_offsets=np.arange(size + 1, dtype=np.int64),
                positives=generator.integers(documents, size=size, dtype=np.int32),
                uniform=np.ones(size, dtype=np.uint8),
            )
        )
    writer.close()
    size_of = sum(path.stat().st_size for path in table.iterdir())
    out(f"candidates: {queries} queries x {each}, {size_of} bytes")


def draw(folder: Path) -> None:
    """Draw triples, and gather tokens of some; print speed and peak memory of this process."""
    drawer, store = Drawer(Candidates.load(folder / "candidates"), 1), TokenStore(folder / "tokens")
    for pairs in (64, 4096):
        steps, began = max(400_000 // pairs, 50), time.monotonic()
        for step in range(steps):
            triples = drawer.draw(step, pairs)
        rate = steps * pairs / (time.monotonic() - began)
        out(f"draws: {rate:,.0f} triples a second, {pairs} a step")
    limits, began = Limits(query=32, document=256, sequence=256), time.monotonic()
    steps = 500
    for step in range(steps):
        triples = drawer.draw(step, 64)
        rows = np.concatenate([triples.positives, triples.negatives[:, 0]])
        store.sequences(np.tile(triples.queries, 2), rows, limits)
    rate = steps * 64 / (time.monotonic() - began)
    out(f"draws with their sequences: {rate:,.0f} triples a second, 64 a step")
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    out(f"peak memory: {held:.2f} GiB resident, mapped files among it")


def out(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
