"""A small BERT with random weights for tests of bi-encoders."""

import shutil

import torch
from transformers import BertConfig, BertModel

from poolbias.models.pretrained import minilm_folder


def write_tiny_encoder(folder, layers):
    """Write a BERT of some layers, 16 wide, with MiniLM's tokenizer, to a folder; return it."""
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=30522,
        hidden_size=16,
        num_hidden_layers=layers,
        num_attention_heads=2,
        intermediate_size=32,
        initializer_range=0.3,
    )
    BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    shutil.copy(minilm_folder() / "tokenizer.json", folder)
    return folder
