"""The dynamic negatives of ADORE: what the query's encoder finds among frozen documents now."""

import numpy as np
import torch
from torch import Tensor

from poolbias.losses.vectors import lambda_pairwise
from poolbias.retrieval.training.draws import Labelled, Rows

METRIC_CUT = 200  # jingtaozhan/DRhard: beyond this rank a document counts nothing


class Frozen:
    """Documents' vectors that stay as they are, and the loss of queries against them.

    Args:
        documents: float32 [documents, dimension].
        labelled: the labelled pairs.
        depth: how many documents are looked at per query.
    """

    def __init__(self, documents: Tensor, labelled: Labelled, depth: int) -> None:
        self.documents, self.labelled = documents, labelled
        self.depth = min(depth, len(documents))
        order = np.argsort(labelled.queries, kind="stable")
        self.sorted = labelled.queries[order], labelled.documents[order]

    def labels_of(self, query: int) -> Rows:
        """Return the rows of the documents that a query is labelled with, int64 [labels]."""
        first, last = np.searchsorted(self.sorted[0], [query, query + 1])
        return self.sorted[1][first:last]

    def loss(self, vectors: Tensor, queries: Rows) -> Tensor:
        """Return the mean loss of queries, one number.

        Each is searched for with the vectors of now; what is found, and its labelled documents
        wherever they stand, enter the loss with their ranks, through which no gradient goes.

        Args:
            vectors: of the queries, float32 [queries, dimension].
            queries: their rows, int64 [queries].
        """
        with torch.no_grad():
            scores = vectors @ self.documents.T
            top = torch.topk(scores, self.depth, dim=1).indices
        losses = []
        for number, query in enumerate(queries.tolist()):
            labels = torch.from_numpy(self.labels_of(query)).to(vectors.device)
            rows, ranks = self._ranked(scores[number], top[number], labels)
            found = self.documents[rows] @ vectors[number]
            relevant = torch.isin(rows, labels)
            losses.append(lambda_pairwise(found[None], relevant[None], ranks[None], METRIC_CUT)[0])
        return torch.stack(losses).mean()

    def _ranked(self, scores: Tensor, top: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        """Return the documents found with their ranks, and labelled ones that were not found."""
        missing = labels[~torch.isin(labels, top)]
        beyond = (scores[None, :] > scores[missing][:, None]).sum(dim=1) + 1
        ranks = torch.arange(1, len(top) + 1, device=top.device)
        return torch.cat([top, missing]), torch.cat([ranks, beyond])
