"""Layer drop in training: OPT and BART of transformers, unedited, built from a configuration with random weights.

In every forward pass each layer is left out with a probability: `if torch.rand([]) < self.layerdrop: continue`. The
branch is inside the library. One graph holds both ways; which layers run is drawn anew at every call, and gradients
reach those that did. (Dropout inside of a layer is off: see AG323 in docs/limits.md.)
"""

from __future__ import annotations

import importlib.util
import os

import torch
import torch._inductor.config

from autograph_torch import autograph, explain

BACKEND = os.environ.get("AUTOGRAPH_EXAMPLE_BACKEND", "eager")


def opt():
    from transformers import OPTConfig, OPTModel

    sizes = {"vocab_size": 64, "hidden_size": 32, "ffn_dim": 64, "word_embed_proj_dim": 32, "num_attention_heads": 4}
    drop = {"layerdrop": 0.5, "dropout": 0.0, "attention_dropout": 0.0}
    return OPTModel(OPTConfig(num_hidden_layers=3, max_position_embeddings=32, use_cache=False, **sizes, **drop))


def bart():
    from transformers import BartConfig, BartModel

    sizes = {"vocab_size": 64, "d_model": 32, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "encoder_layers": 2}
    heads = {"encoder_attention_heads": 4, "decoder_attention_heads": 4, "decoder_layers": 2}
    drop = {"encoder_layerdrop": 0.5, "decoder_layerdrop": 0.5, "dropout": 0.0, "attention_dropout": 0.0}
    return BartModel(BartConfig(max_position_embeddings=32, use_cache=False, **sizes, **heads, **drop))


def step(model, target, ids, seed):
    """Loss and gradients of one training step."""
    model.zero_grad()
    torch.manual_seed(seed)
    loss = target(input_ids=ids)[0].square().mean()
    loss.backward()
    return loss.detach(), {name: p.grad for name, p in model.named_parameters() if p.grad is not None}


def main() -> None:
    if importlib.util.find_spec("transformers") is None:
        print("this example needs transformers")
        return
    torch._inductor.config.fallback_random = True  # the same random numbers as eager
    models = (opt, bart) if BACKEND == "eager" else (opt,)  # Inductor 2.13 fails on BART's masks in a branch
    print(f"{'model':12} graphs, breaks before      graphs, breaks after")
    for make in models:
        torch.manual_seed(0)
        model = make().train()
        ids = torch.randint(3, 64, (2, 7))
        found = explain(model, input_ids=ids)
        counts = f"{found.graphs_before}, {found.breaks_before}{'':20}{found.graphs_after}, {found.breaks_after}"
        print(f"{make.__name__:12} {counts}")
        compiled = autograph(model, backend=BACKEND)
        for seed in range(3):
            loss, gradients = step(model, model, ids, seed)
            loss_2, gradients_2 = step(model, compiled, ids, seed)
            torch.testing.assert_close(loss_2, loss)
            for name, gradient in gradients.items():  # a layer that was left out has a gradient of zeros
                torch.testing.assert_close(gradients_2[name], gradient, rtol=1e-4, atol=1e-6)


if __name__ == "__main__":
    main()
