"""Greedy generation that stops when every sequence has ended: GPT-2 of transformers, from a configuration.

The model is the library's, unedited; the loop around it writes into a buffer of the greatest length, so that no shape
changes. How many tokens are generated depends on the logits: the loop, model included, is one graph.
"""

from __future__ import annotations

import importlib.util
import os

import torch

from autograph_torch import autograph, explain

BACKEND = os.environ.get("AUTOGRAPH_EXAMPLE_BACKEND", "eager")
LENGTH = 12


def gpt2():
    from transformers import GPT2Config, GPT2LMHeadModel

    sizes = {"vocab_size": 8, "n_positions": LENGTH, "n_embd": 32, "n_layer": 2, "n_head": 4}
    return GPT2LMHeadModel(GPT2Config(bos_token_id=0, eos_token_id=0, **sizes)).eval()


def generator(model, eos):
    def generate(prompt):
        tokens = torch.full((prompt.shape[0], LENGTH), max(eos, 0))
        tokens[:, : prompt.shape[1]] = prompt
        ended = torch.zeros(prompt.shape[0], dtype=torch.bool)
        position = prompt.shape[1]
        while position < LENGTH and not ended.all():
            logits = model(input_ids=tokens, use_cache=False).logits
            following = logits[:, position - 1].argmax(-1)
            following = torch.where(ended, eos, following)
            tokens[:, position] = following
            ended = ended | (following == eos)
            position = position + 1
        return tokens, position

    return generate


def main() -> None:
    if importlib.util.find_spec("transformers") is None:
        print("this example needs transformers")
        return
    torch.manual_seed(0)
    model = gpt2()
    with torch.no_grad():
        endless, _ = generator(model, -1)(torch.tensor([[1, 2]]))
        generate = generator(model, endless[0, 4].item())  # a token that this model does generate
        found = explain(generate, torch.tensor([[1, 2], [3, 4]]))
        print(f"before: {found.graphs_before} graphs, {found.breaks_before} breaks", end="; ")
        print(f"after: {found.graphs_after} graph, {found.breaks_after} breaks")
        compiled = autograph(generate, backend=BACKEND)
        for prompt in ([[1, 2], [3, 4]], [[0, 0], [7, 7]], [[1, 2], [1, 2]]):
            expected, actual = generate(torch.tensor(prompt)), compiled(torch.tensor(prompt))
            torch.testing.assert_close(actual[0], expected[0])
            assert actual[1] == expected[1]
            print(f"{prompt} ends at {actual[1]}")


if __name__ == "__main__":
    main()
