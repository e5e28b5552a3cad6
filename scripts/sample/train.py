"""Trains the sample model, a llama of two million parameters: first on stories.py, then on lessons.py.

usage: train.py OUT.npz [--from IN.npz] [--steps N] [--rate R] [--threads N]
       (Debian: apt-get install python3-torch libopenblas0-pthread; each of the two takes about 40 minutes on two cores)
train.py first.npz; train.py both.npz --from first.npz; export.py both.npz sample.gguf
Without --from it learns a vocabulary and stories. With --from it trains those weights on conversations; about 31,000 steps
after the first 3,000 gave the sample of v1.4: the mean of the weights before and after the last 600, at a rate of 7e-4. Writes float32
weights under GGUF tensor names, with the vocabulary; export.py makes the GGUF file of it.
"""

import argparse
import math
import random
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F

import lessons
import stories
import vocabulary

VOCABULARY, CONTEXT = 1024, 384
WIDTH, LAYERS, HEADS, KV_HEADS, FEED_FORWARD = 256, 3, 8, 4, 512
HEAD = WIDTH // HEADS
EPSILON, ROPE_BASE = 1e-5, 10000.0


def rms_norm(x, weight):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + EPSILON) * weight


def rope(x, cos, sin):  # adjacent pairs, as ggml's llama has them; x [batch, heads, tokens, HEAD]
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * cos - b * sin, a * sin + b * cos), -1).flatten(-2)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        weights = {"token_embd.weight": torch.randn(VOCABULARY, WIDTH) * 0.05, "output_norm.weight": torch.ones(WIDTH)}
        shapes = {"attn_q": (WIDTH, WIDTH), "attn_k": (KV_HEADS * HEAD, WIDTH), "attn_v": (KV_HEADS * HEAD, WIDTH),
                  "attn_output": (WIDTH, WIDTH), "ffn_gate": (FEED_FORWARD, WIDTH), "ffn_up": (FEED_FORWARD, WIDTH),
                  "ffn_down": (WIDTH, FEED_FORWARD)}
        for i in range(LAYERS):
            for name, shape in shapes.items():
                scale = 1 / math.sqrt(shape[1]) / (math.sqrt(2 * LAYERS) if name in ("attn_output", "ffn_down") else 1)
                weights[f"blk.{i}.{name}.weight"] = torch.randn(shape) * scale
            weights[f"blk.{i}.attn_norm.weight"] = torch.ones(WIDTH)
            weights[f"blk.{i}.ffn_norm.weight"] = torch.ones(WIDTH)
        self.weights = torch.nn.ParameterDict({k.replace(".", "/"): torch.nn.Parameter(v) for k, v in weights.items()})
        angles = torch.outer(torch.arange(CONTEXT).float(), ROPE_BASE ** (-torch.arange(0, HEAD, 2).float() / HEAD))
        self.cos, self.sin = angles.cos(), angles.sin()

    def forward(self, ids):  # [batch, tokens] -> logits
        w = {k.replace("/", "."): v for k, v in self.weights.items()}
        batch, n = ids.shape
        mask = torch.full((n, n), float("-inf")).triu(1)
        x = w["token_embd.weight"][ids]
        for i in range(LAYERS):
            p = lambda name: w[f"blk.{i}.{name}.weight"]
            h = rms_norm(x, p("attn_norm"))
            q = (h @ p("attn_q").T).view(batch, n, HEADS, HEAD).transpose(1, 2)
            k = (h @ p("attn_k").T).view(batch, n, KV_HEADS, HEAD).transpose(1, 2)
            v = (h @ p("attn_v").T).view(batch, n, KV_HEADS, HEAD).transpose(1, 2)
            q, k = rope(q, self.cos[:n], self.sin[:n]), rope(k, self.cos[:n], self.sin[:n])
            k, v = (t.repeat_interleave(HEADS // KV_HEADS, 1) for t in (k, v))
            a = F.softmax(q @ k.transpose(-1, -2) / math.sqrt(HEAD) + mask, -1) @ v
            x = x + a.transpose(1, 2).reshape(batch, n, WIDTH) @ p("attn_output").T
            h = rms_norm(x, p("ffn_norm"))
            x = x + (F.silu(h @ p("ffn_gate").T) * (h @ p("ffn_up").T)) @ p("ffn_down").T
        return rms_norm(x, w["output_norm.weight"]) @ w["token_embd.weight"].T


def batches(rng, encoder, batch, tokens):
    """Documents one after the other in rows: ids, targets, and how much each target counts (0 is not learned)."""
    rows = [([], []) for _ in range(batch)]
    while True:
        for ids, learned in rows:
            while len(ids) <= tokens:
                more, learn_it = encoder.document(stories.document(rng))
                ids += more
                learned += learn_it
        yield tensors(rows, tokens)
        rows = [(ids[tokens:], learned[tokens:]) for ids, learned in rows]


def lesson_batches(rng, encoder, batch, tokens):
    """Rows that begin with a document, so that an answer never lacks its question. Half of the rows break their stories off
    after a few sentences: a row then has many messages to follow, not two. A word that is taken up again counts five times."""
    end = encoder.ids["<|end|>"]
    while True:
        rows = []
        for i in range(batch):
            ids, learned = [], []
            while len(ids) <= tokens:
                turns, named = (lessons.beginning if i % 2 else lessons.document)(rng)
                names = {i for word in named for i in encoder.text(" " + word)}
                more, learn_it = encoder.document(turns)
                if i % 2:  # where a story was broken off is no end to learn; the first end is the message's
                    learn_it[more.index(end, more.index(end) + 1)] = 0
                learned += [5 * l if t in names and t in more[:at] else l for at, (t, l) in enumerate(zip(more, learn_it))]
                ids += more
            rows.append((ids, learned))
        yield tensors(rows, tokens)


def tensors(rows, tokens):
    x, y, counts = ([row[i][j:tokens + j] for row in rows] for i, j in ((0, 0), (0, 1), (1, 1)))
    return torch.tensor(x), torch.tensor(y), torch.tensor(counts, dtype=torch.float32)


def sample(model, encoder, tokens, turns, n=160):
    ids = [encoder.ids["<|begin|>"]] + [i for t in turns for i in (t if isinstance(t, list) else encoder.text(t))]
    with torch.no_grad():
        for _ in range(n):
            best = int(model(torch.tensor([ids]))[0, -1].argmax())
            if best == encoder.ids["<|end|>"]:
                break
            ids.append(best)
    return "".join(tokens[i] for i in ids).replace("\u0120", " ")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("--from", dest="source")
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--rate", type=float, default=3e-3)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    torch.manual_seed(1)
    torch.set_num_threads(args.threads)
    rng = random.Random(1)
    model = Model()
    if args.source:
        data = np.load(args.source)
        tokens, merges = [str(t) for t in data["tokens"]], [tuple(str(m).split(" ")) for m in data["merges"]]
        model.weights.load_state_dict({k: torch.tensor(data[k.replace("/", ".")]) for k in model.weights.keys()})
    else:
        tokens, merges = vocabulary.learn([text for _ in range(6000) for _, text in stories.document(rng)], VOCABULARY)
    encoder = vocabulary.Encoder(tokens, merges)
    decay = [p for p in model.parameters() if p.dim() > 1]
    rest = [p for p in model.parameters() if p.dim() == 1]
    optimizer = torch.optim.AdamW([{"params": decay, "weight_decay": 0.1}, {"params": rest, "weight_decay": 0.0}],
                                  lr=1.0, betas=(0.9, 0.95))
    source = (lesson_batches if args.source else batches)(rng, encoder, batch=4, tokens=CONTEXT)
    started = time.time()
    average = None
    for step in range(args.steps):
        warm = min(1.0, (step + 1) / 100)
        rate = args.rate * warm * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * step / args.steps)))
        for group in optimizer.param_groups:
            group["lr"] = rate
        x, y, counts = next(source)
        loss = (F.cross_entropy(model(x).flatten(0, 1), y.flatten(), reduction="none") * counts.flatten()).sum() / counts.sum()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        average = loss.item() if average is None else 0.97 * average + 0.03 * loss.item()
        if step % 50 == 49 or step == 9:
            print(f"step {step + 1} loss {average:.3f} at {x.numel() * (step + 1) / (time.time() - started):.0f} tokens/s", flush=True)
        if step % 250 == 249 or step == args.steps - 1:
            np.savez(args.out, tokens=np.array(tokens), merges=np.array([" ".join(m) for m in merges]),
                     **{k.replace("/", "."): v.detach().numpy() for k, v in model.weights.items()})
            user, assistant, end = ([encoder.ids[f"<|{t}|>"]] for t in ("user", "assistant", "end"))
            print(sample(model, encoder, tokens, ["Once upon a time"]))
            for asked in ("Tell me a story about an otter and a lamp.", "Tell me a story about a horse"):
                print(sample(model, encoder, tokens, [user, asked, end, assistant]), flush=True)


if __name__ == "__main__":
    sys.exit(main())
