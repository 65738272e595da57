"""The sentence encoder `all-MiniLM-L6-v2`: BERT, mean over tokens, length 1 (a bi-encoder)."""

from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch.nn import functional as F

from poolbias.models.pretrained import minilm_folder

DIMENSION = 384
MAX_TOKENS = 256  # sentence_bert_config.json: longer texts are cut, [CLS] and [SEP] included


class MiniLM:
    """The model as sentence-transformers defines it: `modules.json` and its folders.

    Args:
        folder: with `config.json`, `model.safetensors` and `tokenizer.json`; default is the folder
            that the installed package carries, its hashes checked.
        device: where the model runs.
    """

    dimension = DIMENSION

    def __init__(self, folder: Path | None = None, device: torch.device | str = "cpu") -> None:
        # Imported here: only now is HF_HUB_OFFLINE sure to be set (by models.pretrained).
        from transformers import BertModel
        from transformers.utils import logging

        folder = minilm_folder() if folder is None else folder
        self.device = torch.device(device)
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()  # the file pads to, and cuts at, 128
        self.tokenizer.enable_truncation(MAX_TOKENS)
        logging.disable_progress_bar()
        network = BertModel.from_pretrained(
            folder, local_files_only=True, use_safetensors=True, attn_implementation="sdpa"
        )
        self.network = network.eval().to(self.device)

    def tokenize(self, texts: list[str]) -> list[list[int]]:
        """Return the word pieces of each text, 2 to 256 of them."""
        return [encoding.ids for encoding in self.tokenizer.encode_batch(texts)]

    def embed(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return float32 vectors [n, 384] of length 1 of texts [n, tokens] without padding."""
        hidden = self.network(input_ids=tokens).last_hidden_state
        return F.normalize(hidden.float().mean(dim=1), dim=1)
