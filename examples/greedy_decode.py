"""Greedy decoding with a recurrent language model that stops as soon as every sequence has ended."""

from __future__ import annotations

import os

import torch
from torch import nn

from autograph_torch import autograph

BACKEND = os.environ.get("AUTOGRAPH_EXAMPLE_BACKEND", "inductor")
END = 0


class LanguageModel(nn.Module):
    def __init__(self, vocabulary: int = 20, width: int = 32):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.cell = nn.GRUCell(width, width)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, start: torch.Tensor, max_tokens: int = 16):
        """Tokens of shape (batch, max_tokens), filled up with END, and the length of each sequence."""
        hidden = torch.zeros(len(start), self.cell.hidden_size)
        tokens = torch.full((max_tokens, len(start)), END)
        finished = torch.zeros(len(start), dtype=torch.bool)
        lengths = torch.zeros(len(start), dtype=torch.long)
        token, position = start, 0
        while position < max_tokens and not finished.all():
            hidden = self.cell(self.embedding(token), hidden)
            token = self.head(hidden).argmax(dim=-1).masked_fill(finished, END)
            tokens[position] = token
            finished = finished | (token == END)
            lengths = lengths + ~finished
            position += 1
        return tokens.T, lengths


@torch.no_grad()
def main() -> None:
    torch.manual_seed(0)
    model = LanguageModel()
    compiled = autograph(model, backend=BACKEND)
    for eagerness in (-10.0, 0.1, 10.0):
        model.head.bias[END] = eagerness
        start = torch.tensor([3, 7, 11])
        tokens, lengths = compiled(start)
        expected_tokens, expected_lengths = model(start)
        assert torch.equal(tokens, expected_tokens)
        assert torch.equal(lengths, expected_lengths)
        print(f"bias {eagerness:5} towards the end: lengths {lengths.tolist()}, first sequence {tokens[0].tolist()}")


if __name__ == "__main__":
    main()
