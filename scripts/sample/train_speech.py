"""Trains the speech sample: a model of Whisper's architecture on synthetic speech.

9,000 steps take an hour on two cores with --workers 1, or four minutes with a GPU.

usage: train_speech.py OUT.npz [--steps N] [--threads N] [--workers N] [--device cuda]
(Debian: apt-get install python3-torch libespeak-ng1 libopenblas0-pthread)
Writes float32 weights under the names of Whisper's checkpoints, with the vocabulary; export_speech.py makes the GGUF file of it.
Phonemes of each frame and the frames of each token are known, so the encoder and two heads of cross-attention learn from them, too.
"""

import argparse
import math
import random
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F

import windows
from windows import CONTEXT, FRAMES, MELS

WIDTH, HEADS, ENCODER_LAYERS, DECODER_LAYERS, FEED_FORWARD = 128, 4, 2, 2, 512
PHONEMES = 80
GUIDED = [(0, 0), (1, 0)]  # layer and head of cross-attention


def sinusoids(n, width):
    scale = torch.exp(-math.log(10000) / (width // 2 - 1) * torch.arange(width // 2))
    angles = torch.arange(n)[:, None] * scale
    return torch.cat([angles.sin(), angles.cos()], 1)


def block_shapes(name, cross):
    for part in ["attn", "cross_attn"] if cross else ["attn"]:
        yield f"{name}.{part}_ln", (WIDTH,)
        for which in ("query", "key", "value", "out"):
            yield f"{name}.{part}.{which}", (WIDTH, WIDTH)
    yield f"{name}.mlp_ln", (WIDTH,)
    yield f"{name}.mlp.0", (FEED_FORWARD, WIDTH)
    yield f"{name}.mlp.2", (WIDTH, FEED_FORWARD)


def shapes():
    yield "encoder.conv1", (WIDTH, MELS, 3)
    yield "encoder.conv2", (WIDTH, WIDTH, 3)
    for i in range(ENCODER_LAYERS):
        yield from block_shapes(f"encoder.blocks.{i}", False)
    for i in range(DECODER_LAYERS):
        yield from block_shapes(f"decoder.blocks.{i}", True)
    yield "encoder.ln_post", (WIDTH,)
    yield "decoder.ln", (WIDTH,)


class Model(torch.nn.Module):
    def __init__(self, n_tokens):
        super().__init__()
        w = {"decoder.token_embedding.weight": torch.randn(n_tokens, WIDTH) * 0.05,
             "decoder.positional_embedding": torch.randn(CONTEXT, WIDTH) * 0.02, "phonemes": torch.randn(PHONEMES, WIDTH) * 0.05}
        for name, shape in shapes():
            norm = len(shape) == 1
            small = math.sqrt(2 * ENCODER_LAYERS) if name.endswith((".out", "mlp.2")) else 1
            w[name + ".weight"] = torch.ones(shape) if norm else torch.randn(shape) / math.sqrt(math.prod(shape[1:])) / small
            if not name.endswith(".key"):
                w[name + ".bias"] = torch.zeros(shape[0])
        self.weights = torch.nn.ParameterDict({k.replace(".", "/"): torch.nn.Parameter(v) for k, v in w.items()})
        self.register_buffer("positions", sinusoids(FRAMES, WIDTH), persistent=False)

    def get(self, name):
        return self.weights[name.replace(".", "/")]

    def linear(self, name, x):
        bias = None if name.endswith(".key") else self.get(name + ".bias")
        return F.linear(x, self.get(name + ".weight"), bias)

    def norm(self, name, x):
        return F.layer_norm(x, (WIDTH,), self.get(name + ".weight"), self.get(name + ".bias"))

    def heads(self, name, x):
        return self.linear(name, x).view(*x.shape[:2], HEADS, -1).transpose(1, 2)

    def attend(self, name, x, y, mask=None):  # queries of x, keys and values of y
        q, k, v = self.heads(name + ".query", x), self.heads(name + ".key", y), self.heads(name + ".value", y)
        scores = (q / math.sqrt(q.shape[-1])) @ k.transpose(-1, -2)
        p = F.softmax(scores if mask is None else scores + mask, -1)
        return self.linear(name + ".out", (p @ v).transpose(1, 2).reshape(x.shape)), p

    def feed_forward(self, name, x):
        h = F.gelu(self.linear(name + ".mlp.0", self.norm(name + ".mlp_ln", x)), approximate="tanh")
        return x + self.linear(name + ".mlp.2", h)

    def encode(self, mel):  # [batch, MELS, 2 FRAMES] -> [batch, FRAMES, WIDTH]
        for name, stride in (("encoder.conv1", 1), ("encoder.conv2", 2)):
            mel = F.gelu(F.conv1d(mel, self.get(name + ".weight"), self.get(name + ".bias"), stride, 1), approximate="tanh")
        x = mel.transpose(1, 2)
        x = x + self.positions[: x.shape[1]]
        for i in range(ENCODER_LAYERS):
            name = f"encoder.blocks.{i}"
            h = self.norm(name + ".attn_ln", x)
            x = self.feed_forward(name, x + self.attend(name + ".attn", h, h)[0])
        return self.norm("encoder.ln_post", x)

    def decode(self, ids, encoded):
        """Logits, and the cross-attention of GUIDED."""
        n, guided = ids.shape[1], []
        mask = torch.full((n, n), float("-inf"), device=ids.device).triu(1)
        x = self.get("decoder.token_embedding.weight")[ids] + self.get("decoder.positional_embedding")[:n]
        for i in range(DECODER_LAYERS):
            name = f"decoder.blocks.{i}"
            h = self.norm(name + ".attn_ln", x)
            x = x + self.attend(name + ".attn", h, h, mask)[0]
            mixed, p = self.attend(name + ".cross_attn", self.norm(name + ".cross_attn_ln", x), encoded)
            guided += [p[:, head] for layer, head in GUIDED if layer == i]
            x = self.feed_forward(name, x + mixed)
        return self.norm("decoder.ln", x) @ self.get("decoder.token_embedding.weight").T, guided


def losses(model, data):
    mel, ids, targets, spans, heard = (a.to(model.positions.device) for a in data)
    encoded = model.encode(mel)
    phoneme = F.cross_entropy((encoded @ model.get("phonemes").T).flatten(0, 1), heard.flatten())
    logits, guided = model.decode(ids, encoded)
    text = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-1)
    frames = torch.arange(encoded.shape[1], device=encoded.device)
    inside = (frames >= spans[..., :1]) & (frames < spans[..., 1:])
    has = spans[..., 0] >= 0
    # Equal weights on all frames of a token: its first frame shows, and frames belong to one token.
    wanted = (inside / inside.sum(-1, keepdim=True).clamp(min=1))[has]
    attention = sum(-(wanted * torch.log(p[has] + 1e-6)).sum(-1).mean() for p in guided) / len(guided)
    return text, phoneme, attention


def greedy(model, mel, start, end, limit):
    device = model.positions.device
    with torch.no_grad():
        encoded = model.encode(torch.from_numpy(mel)[None].to(device))
        ids = list(start)
        while len(ids) < limit and (len(ids) == len(start) or ids[-1] != end):
            ids.append(int(model.decode(torch.tensor([ids], device=device), encoded)[0][0, -1].argmax()))
    return ids[len(start) :]


def edits(said, heard):
    row = list(range(len(heard) + 1))
    for i, a in enumerate(said):
        above, row = row, [i + 1]
        for j, b in enumerate(heard):
            row.append(min(above[j] + (a != b), above[j + 1] + 1, row[j] + 1))
    return row[-1]


def words(text):
    return text.lower().replace(".", "").replace(",", "").replace("?", "").split()


def word_error_rate(model, source, tokens, n):
    start = [source.id["startoftranscript"], source.id["notimestamps"]]
    wrong = total = 0
    for _ in range(n):
        sound, said = source.spoken()
        said = [(s, at) for s, at in said if at + s.end <= windows.SECONDS]
        source.disturb(sound, said)
        if said:
            sound[int((said[-1][1] + said[-1][0].end + 0.05) * 16000) :] = 0
        ids = greedy(model, windows.log_mel(sound), start, source.id["endoftext"], CONTEXT)
        heard = words("".join(tokens[i] for i in ids if i < windows.WORDS).replace("\u0120", " "))
        expected = words(" ".join(s.text for s, _ in said))
        wrong += edits(expected, heard)
        total += len(expected)
    print("said:", " ".join(expected), "\nheard:", " ".join(heard))
    return wrong / total


def save(path, model, tokens, merges):
    weights = {k.replace("/", "."): v.detach().cpu().numpy() for k, v in model.weights.items() if k != "phonemes"}
    np.savez(path, tokens=np.array(tokens), merges=np.array([" ".join(m) for m in merges]),
             **weights, **{"encoder.positional_embedding": model.positions.cpu().numpy()})


class Batches(torch.utils.data.IterableDataset):
    """Batches without end. Each process of a loader draws its own."""

    def __init__(self, encoder, phonemes):
        self.encoder, self.phonemes = encoder, phonemes

    def __iter__(self):
        worker = torch.utils.data.get_worker_info()
        source = windows.Windows(random.Random(2 + 1000 * (worker.id if worker else 0)), self.encoder, self.phonemes)
        while True:
            yield windows.batch(source, 8)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("--steps", type=int, default=9000)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--workers", type=int, default=0, help="processes that make speech")
    parser.add_argument("--device", default="cpu")
    args = parser.parse_args()
    torch.manual_seed(1)
    torch.set_num_threads(args.threads)
    tokens, merges, encoder = windows.vocabulary(random.Random(1))
    phonemes = windows.phoneme_ids(random.Random(4), encoder)
    batches = iter(torch.utils.data.DataLoader(Batches(encoder, phonemes), batch_size=None, num_workers=args.workers))
    model = Model(len(tokens)).to(args.device)
    decay = [p for p in model.parameters() if p.dim() > 1]
    rest = [p for p in model.parameters() if p.dim() == 1]
    optimizer = torch.optim.AdamW([{"params": decay, "weight_decay": 0.05}, {"params": rest, "weight_decay": 0.0}], lr=1.0, betas=(0.9, 0.98))
    average = None
    for step in range(args.steps):
        rate = 3e-3 * min(1.0, (step + 1) / 80) * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * step / args.steps)))
        for group in optimizer.param_groups:
            group["lr"] = rate
        parts = losses(model, next(batches))
        loss = parts[0] + 0.5 * parts[1] + 0.3 * parts[2]
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        now = torch.stack(parts).detach()
        average = now if average is None else 0.95 * average + 0.05 * now
        if step % 50 == 49:
            print(f"step {step + 1} text, phonemes, attention {average.cpu().numpy().round(3)} after {time.process_time():.0f} s", flush=True)
        last = step == args.steps - 1
        if step % 500 == 499 or last:
            save(args.out, model, tokens, merges)
            held_out = windows.Windows(random.Random(3), encoder, phonemes, windows.HELD_OUT)
            print(f"word error rate {word_error_rate(model, held_out, tokens, 200 if last else 20):.3f}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
