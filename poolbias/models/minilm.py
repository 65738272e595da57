"""The sentence encoder `all-MiniLM-L6-v2`: BERT, mean over tokens, length 1 (a bi-encoder)."""

from pathlib import Path

import torch

from poolbias.models.biencoder import BiEncoder, start
from poolbias.models.pretrained import minilm_folder

DIMENSION = 384
LAYERS = 6
MAX_TOKENS = 256  # sentence_bert_config.json: longer texts are cut, [CLS] and [SEP] included


def minilm(folder: Path | None = None, device: torch.device | str = "cpu") -> BiEncoder:
    """Return the model as sentence-transformers defines it: `modules.json` and its folders.

    Args:
        folder: with `config.json`, `model.safetensors` and `tokenizer.json`; default is the folder
            that the installed package carries, its hashes checked.
        device: where the model runs.
    """
    folder = minilm_folder() if folder is None else folder
    return start("minilm", folder, LAYERS, (MAX_TOKENS, MAX_TOKENS)).to(device).eval()
