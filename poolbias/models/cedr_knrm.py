"""The ranker `cedr_knrm`: kernels over similarities in every layer, and [CLS].

It is CEDR-KNRM (MacAvaney et al. 2019). The formulas are those of Georgetown-IR-Lab/cedr
(modeling.py, modeling_util.py), with the kernels of K-NRM (Xiong et al. 2017). For each of the
encoder's hidden states, the embeddings first, with q_i and d_j the vectors of the query's and the
document's word pieces:

    M_ij = q_i · d_j / (|q_i| |d_j|)
    K_k(i) = Σ_j exp(-½ ((M_ij - μ_k) / σ_k)²)
    φ_k = Σ_i log(K_k(i) + 10⁻⁶)

The score is a linear unit over all φ and the last state's [CLS], averaged over a document's parts.
Documents longer than the encoder are cut into as few parts of equal length as fit it.

Our choice: padding takes no part in a kernel (in the authors' code a padded place of a document has
similarity 0 and counts in the kernels around 0), so a score does not depend on its batch. The head
starts as Normal(0, 0.02), as in `bert`; the authors' starts as PyTorch has it.
"""

import math
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from transformers import BertModel

from poolbias.errors import DataError
from poolbias.models import dropout, encoder
from poolbias.models.encoder import save
from poolbias.models.parts import Parts, take_apart
from poolbias.tokens import Ids, Sequences

__all__ = ["CedrKnrm", "load", "save", "scores", "start"]

MEANS = (-0.9, -0.7, -0.5, -0.3, -0.1, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
DEVIATIONS = (*(0.1,) * 10, 0.001)
SMALLEST = 1e-6  # added to a kernel's sum before its logarithm
LEAST_NORM = 1e-9  # added to the length of a vector
SPECIAL = 3  # [CLS] and two [SEP]


class CedrKnrm(nn.Module):
    """The encoder, the kernels' means and deviations, and the linear unit.

    Attributes:
        learning_rates: peak learning rate of the parameters that do not take the training's, by
            name or by the module that they are in.
        undecayed: parameters without weight decay besides biases (our choice: the kernels, which
            would be drawn to 0).
    """

    undecayed = ("means", "deviations")

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.config = config
        self.bert = BertModel(config, add_pooling_layer=False)
        self.means = nn.Parameter(torch.tensor(MEANS))
        self.deviations = nn.Parameter(torch.tensor(DEVIATIONS))
        features = len(MEANS) * (config.num_hidden_layers + 1) + config.hidden_size
        self.dropout = nn.Dropout(config.classifier_dropout)
        self.combine = nn.Linear(features, 1)
        rate = getattr(config, "poolbias_head_learning_rate", None)
        names = ("means", "deviations", "combine")
        self.learning_rates = dict.fromkeys(names, rate) if rate else {}

    def kernels(self, query: Tensor, document: Tensor, query_mask: Tensor, mask: Tensor) -> Tensor:
        """Return φ of one state, float32 [pairs, kernels].

        Args:
            query: float32 [pairs, query, width].
            document: float32 [pairs, document, width].
            query_mask: 1 where the query is not padding, [pairs, query].
            mask: likewise of the document.
        """
        rows = query / (query.norm(dim=2, keepdim=True) + LEAST_NORM)
        columns = document / (document.norm(dim=2, keepdim=True) + LEAST_NORM)
        similarity = torch.bmm(rows, columns.transpose(1, 2))
        shifted = (similarity[..., None] - self.means) / self.deviations
        sums = (torch.exp(-0.5 * shifted.square()) * mask[:, None, :, None]).sum(2)
        return (torch.log(sums + SMALLEST) * query_mask[:, :, None]).sum(1)


def start(parameters: dict[str, Any], seed: int) -> CedrKnrm:
    """Return a ranker that starts from published weights, or from a trained ranker's encoder.

    Args:
        parameters: as `encoder.configuration` takes them; `head_learning_rate` of the kernels and
            the linear unit; `trained`, the folder of a ranker `bert` of ours whose encoder this one
            starts from (the authors' two stages), if any.
        seed: of the linear unit.

    Raises:
        ConfigError, DataError, ToolError: as `bert.start`; `DataError` too if the trained ranker
            has another shape.
    """
    config = encoder.configuration(parameters)
    config.poolbias_head_learning_rate = parameters["head_learning_rate"]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        ranker = CedrKnrm(config)
        ranker.combine.weight.data.normal_(std=0.02)
        ranker.combine.bias.data.zero_()
    dropout.replace(ranker)
    if trained := parameters.get("trained"):
        _take(ranker.bert, Path(trained))
    else:
        encoder.fill(ranker.bert, parameters["start"])
    return ranker


def _take(bert: Any, folder: Path) -> None:
    from poolbias.models import load as load_any  # a ranker of another kind

    trained = load_any(folder).bert.state_dict()
    wanted = bert.state_dict()
    for name, value in wanted.items():
        if name not in trained or trained[name].shape != value.shape:
            raise DataError(
                f"{folder}: weight {name!r} is missing or of another shape, need a ranker of as "
                "many layers of the same encoder; name another or correct layers."
            )
    bert.load_state_dict({name: trained[name] for name in wanted})


def scores(ranker: CedrKnrm, sequences: Sequences, precision: str) -> Tensor:
    """Return the score of each pair, float32 [pairs], in the order of the pairs.

    The encoder runs in bfloat16 if `precision` is `bf16`, all after it in float32.
    """
    room = ranker.config.max_position_embeddings - SPECIAL
    parts = take_apart(sequences, lambda ids, query: split_evenly(ids, room - query))
    device = ranker.means.device
    query, query_mask = _grid(parts, parts.query_places(), device)
    document, mask = _grid(parts, parts.document_places(), device)
    features = []
    for state in encoder.states(ranker.bert, parts.sequences, precision):
        values = state.float()
        features.append(ranker.kernels(values[query], values[document], query_mask, mask))
    firsts, filled = _grid(parts, [parts.starts[one] for one in parts.parts_of_pairs()], device)
    total = (values[firsts] * filled[..., None]).sum(1)
    # every kernel's layers together, as the authors' reshape has them
    joined = torch.stack(features, dim=2).flatten(1)
    joined = torch.cat([joined, total / filled.sum(1, keepdim=True)], dim=1)
    result: Tensor = ranker.combine(ranker.dropout(joined))[:, 0]
    return result


def split_evenly(ids: Ids, room: int) -> list[Ids]:
    """Return as few parts of equal length (the last may be shorter) as have at most `room` pieces.

    cedr's modeling_util.subbatch, but by each document's own length (our choice: there it is that
    of the longest of the batch).
    """
    if len(ids) <= room:
        return [ids]
    count = math.ceil(len(ids) / room)
    size = math.ceil(len(ids) / count)
    return [ids[first : first + size] for first in range(0, len(ids), size)]


def _grid(parts: Parts, places: list[Ids], device: torch.device) -> tuple[Tensor, Tensor]:
    table, filled = parts.grid(places)
    return torch.from_numpy(table).to(device), torch.from_numpy(filled).to(device)


def load(folder: Path | str) -> Any:
    """Load a saved ranker in evaluation mode.

    Raises:
        DataError: if a file is missing or damaged, or a weight has no place.
    """
    return encoder.load(CedrKnrm, folder)
