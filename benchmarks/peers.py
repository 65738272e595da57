"""sentence-transformers' cross-encoder: the peer, with its defaults and at its best."""

import tempfile
import warnings
from typing import Any

import numpy as np
from datasets import Dataset
from numpy.typing import NDArray
from sentence_transformers import CrossEncoder
from sentence_transformers.cross_encoder import CrossEncoderTrainer, CrossEncoderTrainingArguments
from sentence_transformers.cross_encoder.losses import BinaryCrossEntropyLoss

from benchmarks.texts import LONGEST, START, Rows, Texts
from poolbias.models.pretrained import folder_of

SEQUENCES = 64  # of a step of 32 pairs
STEPS = 64  # of different pairs


def cross_encoder(**options: Any) -> CrossEncoder:
    """Return the peer's model with the same weights, cut to the same longest sequence."""
    folder = str(folder_of(START))
    model: CrossEncoder = CrossEncoder(
        folder, num_labels=1, max_length=LONGEST, device="cpu", **options
    )
    return model


class PeerTraining:
    """The peer's trainer; each call trains a few steps of 64 sequences (32 pairs)."""

    def __init__(self, texts: Texts, half: bool) -> None:
        self.half = half
        self.model = cross_encoder()
        queries, documents = texts.pairs(SEQUENCES * STEPS, seed=2)
        self.rows = {
            "query": [texts.queries[row] for row in queries],
            "document": [texts.documents[row] for row in documents],
            "label": [float(row % 2) for row in range(len(queries))],
        }
        self.done = 0  # steps

    def run(self, steps: int) -> None:
        """Train `steps` steps; what the trainer sets up before its first step is timed too."""
        start = self.done % (STEPS - steps) * SEQUENCES
        rows = {n: values[start : start + steps * SEQUENCES] for n, values in self.rows.items()}
        self.done += steps
        with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
            warnings.simplefilter("ignore")
            arguments = CrossEncoderTrainingArguments(
                output_dir=folder, max_steps=steps, per_device_train_batch_size=SEQUENCES,
                bf16=self.half, use_cpu=True, report_to="none", save_strategy="no",
                logging_strategy="no", disable_tqdm=True,
            )  # fmt: skip
            CrossEncoderTrainer(
                model=self.model,
                args=arguments,
                train_dataset=Dataset.from_dict(rows),
                loss=BinaryCrossEntropyLoss(self.model),
            ).train()


def predict(
    model: CrossEncoder, texts: Texts, query_rows: Rows, document_rows: Rows, **options: Any
) -> NDArray[np.float32]:
    """Return the peer's scores of pairs, float32 [pairs]."""
    pairs = [
        (texts.queries[query], texts.documents[document])
        for query, document in zip(query_rows, document_rows, strict=True)
    ]
    return np.asarray(model.predict(pairs, show_progress_bar=False, **options), dtype=np.float32)
