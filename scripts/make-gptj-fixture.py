#!/usr/bin/env python3
"""Makes tests/fixtures/gptj: a tiny random GPT-J as GGUF and what it must compute.

llama.cpp lists the architecture but cannot run it, so that the reference is this forward pass in float64, written
from the original model's definition (Wang & Komatsuzaki 2021; "GPTJ" of transformers): one LayerNorm a block feeds
attention and the feed-forward network, both are added to the input; the first rotary_dim elements of each head are
rotated in adjacent pairs; GELU in its tanh form; the output projection has a bias.

Needs numpy. The files are the same for every run: the seed is fixed.
"""
import json
import pathlib
import struct

import numpy as np

N_VOCAB, N_CTX, N_EMBD, N_LAYER, N_HEAD, N_ROT, N_FF, EPS = 26, 64, 24, 2, 3, 4, 40, 1e-5
PROMPT = [3, 17, 8, 0, 25, 11, 11, 4, 19, 2, 7, 14]
N_GREEDY = 16


def make_tensors(random):
    def matrix(n_out, n_in, scale=1.0):
        return (random.standard_normal((n_out, n_in)) * scale / np.sqrt(n_in)).astype(np.float32)

    def vector(n, center, spread):
        return (center + spread * random.standard_normal(n)).astype(np.float32)

    tensors = {"token_embd.weight": matrix(N_VOCAB, N_EMBD, 5.0)}
    for i in range(N_LAYER):
        blk = f"blk.{i}."
        tensors[blk + "attn_norm.weight"] = vector(N_EMBD, 1.0, 0.2)
        tensors[blk + "attn_norm.bias"] = vector(N_EMBD, 0.0, 0.2)
        for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
            tensors[blk + part + ".weight"] = matrix(N_EMBD, N_EMBD, 1.5)
        tensors[blk + "ffn_up.weight"] = matrix(N_FF, N_EMBD, 1.5)
        tensors[blk + "ffn_up.bias"] = vector(N_FF, 0.0, 0.2)
        tensors[blk + "ffn_down.weight"] = matrix(N_EMBD, N_FF, 1.5)
        tensors[blk + "ffn_down.bias"] = vector(N_EMBD, 0.0, 0.2)
    tensors["output_norm.weight"] = vector(N_EMBD, 1.0, 0.2)
    tensors["output_norm.bias"] = vector(N_EMBD, 0.0, 0.2)
    tensors["output.weight"] = matrix(N_VOCAB, N_EMBD, 2.0)
    tensors["output.bias"] = vector(N_VOCAB, 0.0, 0.3)
    return tensors


def layer_norm(x, w, name):
    centered = x - x.mean(axis=-1, keepdims=True)
    y = centered / np.sqrt((centered**2).mean(axis=-1, keepdims=True) + EPS)
    return y * w[name + ".weight"] + w[name + ".bias"]


def gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def rotate(x):
    """x [n_tokens, n_head, d]: pairs (2i, 2i+1) of the first N_ROT elements turn by position * 10000^(-2i/N_ROT)."""
    angle = np.arange(x.shape[0])[:, None] * 10000.0 ** (-np.arange(0, N_ROT, 2) / N_ROT)
    cos, sin = np.cos(angle)[:, None, :], np.sin(angle)[:, None, :]
    out = x.copy()
    even, odd = x[..., 0:N_ROT:2], x[..., 1:N_ROT:2]
    out[..., 0:N_ROT:2] = even * cos - odd * sin
    out[..., 1:N_ROT:2] = even * sin + odd * cos
    return out


def forward(w, tokens):
    """Logits [n_tokens, N_VOCAB]."""
    n, d = len(tokens), N_EMBD // N_HEAD
    x = w["token_embd.weight"][tokens]
    mask = np.where(np.tri(n) > 0, 0.0, -np.inf)
    for i in range(N_LAYER):
        blk = f"blk.{i}."
        h = layer_norm(x, w, blk + "attn_norm")
        q, k, v = ((h @ w[blk + p + ".weight"].T).reshape(n, N_HEAD, d) for p in ("attn_q", "attn_k", "attn_v"))
        scores = np.einsum("qhd,khd->hqk", rotate(q), rotate(k)) / np.sqrt(d) + mask
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        scores /= scores.sum(axis=-1, keepdims=True)
        attended = np.einsum("hqk,khd->qhd", scores, v).reshape(n, N_EMBD) @ w[blk + "attn_output.weight"].T
        inner = gelu(h @ w[blk + "ffn_up.weight"].T + w[blk + "ffn_up.bias"])
        x = x + attended + inner @ w[blk + "ffn_down.weight"].T + w[blk + "ffn_down.bias"]
    return layer_norm(x, w, "output_norm") @ w["output.weight"].T + w["output.bias"]


def gguf_bytes(tensors):
    def string(text):
        return struct.pack("<Q", len(text)) + text.encode()

    u32, f32 = 4, 6
    keys = [("context_length", u32, N_CTX), ("embedding_length", u32, N_EMBD), ("block_count", u32, N_LAYER),
            ("feed_forward_length", u32, N_FF), ("attention.head_count", u32, N_HEAD),
            ("rope.dimension_count", u32, N_ROT), ("attention.layer_norm_epsilon", f32, EPS)]
    out = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), 1 + len(keys))
    out += string("general.architecture") + struct.pack("<I", 8) + string("gptj")
    for key, kind, value in keys:
        out += string("gptj." + key) + struct.pack("<I", kind) + struct.pack("<I" if kind == u32 else "<f", value)
    data = b""
    for name, values in tensors.items():
        shape = values.shape[::-1]
        out += string(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0, len(data))
        data += values.tobytes()
        data += bytes(-len(data) % 32)
    return out + bytes(-len(out) % 32) + data


def main():
    folder = pathlib.Path(__file__).resolve().parent.parent / "tests" / "fixtures" / "gptj"
    folder.mkdir(parents=True, exist_ok=True)
    tensors = make_tensors(np.random.default_rng(1))
    (folder / "model.gguf").write_bytes(gguf_bytes(tensors))
    exact = {name: values.astype(np.float64) for name, values in tensors.items()}
    logits = forward(exact, PROMPT)
    (folder / "logits.f32").write_bytes(logits.astype(np.float32).tobytes())
    tokens, greedy, margin = list(PROMPT), [], np.inf
    for _ in range(N_GREEDY):
        best = np.sort(forward(exact, tokens)[-1])
        margin = min(margin, best[-1] - best[-2])
        greedy.append(int(np.argmax(forward(exact, tokens)[-1])))
        tokens.append(greedy[-1])
    description = {"tokens": PROMPT, "greedy": greedy, "smallest_margin": round(float(margin), 4)}
    (folder / "expected.json").write_text(json.dumps(description) + "\n")
    print(f"logits of spread {logits.std():.2f}, smallest greedy margin {margin:.3f}")


if __name__ == "__main__":
    main()
