"""Trains the voice sample: a small Kokoro that speaks as espeak-ng does.

2,600 steps of one text take a quarter of an hour on one core.

usage: train_voice.py OUT.pt [--steps N] [--minutes N] [--texts N]
(Debian: apt-get install python3-torch libespeak-ng1)
Goes on with OUT.pt if it is there; export_voice.py makes the GGUF file of it. Everything is known of each spoken text, the frames of
each phoneme, the pitch and the energy, so every part learns at once, and without an adversary.
"""

import argparse
import math
import pathlib
import random
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

import voice_data
from voice_data import ALPHABET, HOP, HZ, N_FFT

EMBED, NARROW, HEADS, FEED_FORWARD, REPEATS, CONTEXT = 64, 32, 2, 128, 2, 202
HIDDEN, STYLE, DURATIONS, WIDE, TEXT_SHORT, FRAME = 64, 8, 40, 80, 16, 80
CHANNELS, STRIDES, PADDINGS, KERNELS = [64, 48], [3, 2], [2, 1], [3]
DILATIONS, SOURCE_KERNEL, LAST_KERNEL = [1, 3, 5], 1, 3
HZ_UNIT = 100.0  # Hz of one in the curve of the pitch
BINS = N_FFT // 2 + 1


class Adaptive(nn.Module):
    """A norm of each channel over the time, or of each row over its channels, with factors that the style gives."""

    def __init__(self, n):
        super().__init__()
        self.gamma, self.beta = nn.Linear(STYLE, n), nn.Linear(STYLE, n)
        for part in (self.gamma, self.beta):
            nn.init.zeros_(part.bias)
            nn.init.normal_(part.weight, std=0.02)

    def forward(self, x, style):  # [1, n, time]
        return F.instance_norm(x, weight=1 + self.gamma(style), bias=self.beta(style))

    def rows(self, x, style):
        return F.layer_norm(x, x.shape[-1:]) * (1 + self.gamma(style)) + self.beta(style)


class Block(nn.Module):
    def __init__(self, n_in, n_out, pool=False):
        super().__init__()
        self.norm1, self.norm2 = Adaptive(n_in), Adaptive(n_out)
        self.conv1, self.conv2 = nn.Conv1d(n_in, n_out, 3, padding=1), nn.Conv1d(n_out, n_out, 3, padding=1)
        self.pool = nn.ConvTranspose1d(n_in, n_in, 3, 2, 1, output_padding=1, groups=n_in) if pool else None
        self.conv1x1 = nn.Conv1d(n_in, n_out, 1, bias=False) if n_in != n_out else None

    def forward(self, x, style):
        y = F.leaky_relu(self.norm1(x, style), 0.2)
        if self.pool:
            y, x = self.pool(y), x.repeat_interleave(2, -1)
        y = self.conv2(F.leaky_relu(self.norm2(self.conv1(y), style), 0.2))
        return ((self.conv1x1(x) if self.conv1x1 else x) + y) * math.sqrt(0.5)


class Residual(nn.Module):
    def __init__(self, n, kernel):
        super().__init__()
        self.norms = nn.ModuleList(Adaptive(n) for _ in range(6))
        self.alphas = nn.ParameterList(torch.ones(n, 1) for _ in range(6))
        sizes = [d for dilation in DILATIONS for d in (dilation, 1)]
        self.convs = nn.ModuleList(nn.Conv1d(n, n, kernel, padding=d * (kernel - 1) // 2, dilation=d) for d in sizes)
        for conv in self.convs[1::2]:
            conv.weight.data *= 0.3

    def forward(self, x, style):
        for i in range(0, 6, 2):
            y = x
            for j in (i, i + 1):
                y = self.norms[j](y, style)
                y = self.convs[j](y + torch.sin(self.alphas[j] * y) ** 2 / self.alphas[j])
            x = x + y
        return x


class Bert(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(len(ALPHABET), NARROW), nn.Embedding(CONTEXT, NARROW)
        self.token_type = nn.Parameter(torch.zeros(NARROW))
        self.norm, self.attention_norm, self.out_norm = (nn.LayerNorm(n, eps=1e-12) for n in (NARROW, EMBED, EMBED))
        self.widen = nn.Linear(NARROW, EMBED)
        self.q, self.k, self.v, self.o = (nn.Linear(EMBED, EMBED) for _ in range(4))
        self.up, self.down = nn.Linear(EMBED, FEED_FORWARD), nn.Linear(FEED_FORWARD, EMBED)
        nn.init.normal_(self.tokens.weight, std=0.3)
        nn.init.zeros_(self.positions.weight)  # not trained: the LSTMs see the order, and texts of any length work
        self.positions.weight.requires_grad_(False)

    def forward(self, ids):
        n = len(ids)
        x = self.widen(self.norm(self.tokens(ids) + self.positions.weight[:n] + self.token_type))
        for _ in range(REPEATS):
            q, k, v = (part(x).view(n, HEADS, -1).transpose(0, 1) for part in (self.q, self.k, self.v))
            mixed = F.softmax(q @ k.transpose(1, 2) / math.sqrt(q.shape[2]), -1) @ v
            x = self.attention_norm(x + self.o(mixed.transpose(0, 1).reshape(n, -1)))
            x = self.out_norm(x + self.down(F.gelu(self.up(x), approximate="tanh")))
        return x


def lstm(n_in, n):
    return nn.LSTM(n_in, n // 2, bidirectional=True)


class Prosody(nn.Module):
    def __init__(self):
        super().__init__()
        self.bert, self.encode = Bert(), nn.Linear(EMBED, HIDDEN)
        self.lstms = nn.ModuleList(lstm(HIDDEN + STYLE, HIDDEN) for _ in range(2))
        self.norms = nn.ModuleList(Adaptive(HIDDEN) for _ in range(2))
        self.duration_lstm, self.shared_lstm = lstm(HIDDEN + STYLE, HIDDEN), lstm(HIDDEN + STYLE, HIDDEN)
        self.duration_proj = nn.Linear(HIDDEN, DURATIONS)
        blocks = lambda: nn.ModuleList([Block(HIDDEN, HIDDEN), Block(HIDDEN, HIDDEN // 2, True), Block(HIDDEN // 2, HIDDEN // 2)])
        self.f0_blocks, self.n_blocks = blocks(), blocks()
        self.f0_proj, self.n_proj = nn.Conv1d(HIDDEN // 2, 1, 1), nn.Conv1d(HIDDEN // 2, 1, 1)

    def forward(self, ids, style):
        beside = style.expand(len(ids), -1)
        x = torch.cat([self.encode(self.bert(ids)), beside], 1)
        for layer, norm in zip(self.lstms, self.norms):
            x = torch.cat([norm.rows(layer(x)[0], style), beside], 1)
        return x, self.duration_proj(self.duration_lstm(x)[0])

    def curves(self, hidden, style):
        x = self.shared_lstm(hidden)[0].T[None]
        out = []
        for blocks, last in ((self.f0_blocks, self.f0_proj), (self.n_blocks, self.n_proj)):
            y = x
            for block in blocks:
                y = block(y, style)
            out.append(last(y)[0, 0])
        return out


class Text(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(len(ALPHABET), HIDDEN)
        self.convs = nn.ModuleList(nn.Conv1d(HIDDEN, HIDDEN, 5, padding=2) for _ in range(2))
        self.norms = nn.ModuleList(nn.LayerNorm(HIDDEN) for _ in range(2))
        self.lstm = lstm(HIDDEN, HIDDEN)

    def forward(self, ids):
        x = self.embedding(ids)
        for conv, norm in zip(self.convs, self.norms):
            x = F.leaky_relu(norm(conv(x.T[None])[0].T), 0.2)
        return self.lstm(x)[0]


class Sound(nn.Module):
    def __init__(self):
        super().__init__()
        self.f0_conv, self.n_conv = nn.Conv1d(1, 1, 3, 2, 1), nn.Conv1d(1, 1, 3, 2, 1)
        self.asr_conv = nn.Conv1d(HIDDEN, TEXT_SHORT, 1)
        self.encoder_block = Block(HIDDEN + 2, WIDE)
        joined = WIDE + TEXT_SHORT + 2
        self.decoder_blocks = nn.ModuleList([Block(joined, WIDE), Block(joined, FRAME, True)])
        n, self.ups, self.source_convs, self.source_blocks, self.blocks = FRAME, *(nn.ModuleList() for _ in range(4))
        for i, width in enumerate(CHANNELS):
            self.ups.append(nn.ConvTranspose1d(n, width, STRIDES[i] + 2 * PADDINGS[i], STRIDES[i], PADDINGS[i]))
            stride = math.prod(STRIDES[i + 1 :])
            kernel, padding = (2 * stride, (stride + 1) // 2) if stride > 1 else (1, 0)
            self.source_convs.append(nn.Conv1d(N_FFT + 2, width, kernel, stride, padding))
            self.source_blocks.append(Residual(width, SOURCE_KERNEL))
            self.blocks.extend(Residual(width, k) for k in KERNELS)
            n = width
        self.conv_post = nn.Conv1d(n, N_FFT + 2, LAST_KERNEL, padding=LAST_KERNEL // 2)
        self.conv_post.weight.data *= 0.3
        self.conv_post.bias.data[:BINS] -= 5
        self.register_buffer("window", torch.hann_window(N_FFT), persistent=False)

    def forward(self, text, pitch, energy, source, style):  # text [frames, HIDDEN], curves [2 frames]
        text = text.T[None]
        short = [self.f0_conv(pitch[None, None]), self.n_conv(energy[None, None])]
        x, narrow = self.encoder_block(torch.cat([text, *short], 1), style), self.asr_conv(text)
        for block in self.decoder_blocks:
            x = block(torch.cat([x, narrow, *short], 1), style)
        spectra = torch.stft(source[None], N_FFT, HOP, N_FFT, self.window, return_complex=True)
        source = torch.cat([spectra.abs(), spectra.angle()], 1)
        for i, up in enumerate(self.ups):
            x = up(F.leaky_relu(x, 0.1))
            if i == len(self.ups) - 1:
                x = torch.cat([x[..., 1:2], x], -1)
            x = x + self.source_blocks[i](self.source_convs[i](source), style)
            n = len(KERNELS)
            x = sum(block(x, style) for block in self.blocks[i * n : (i + 1) * n]) / n
        x = self.conv_post(F.leaky_relu(x, 0.01))
        spectra = torch.polar(torch.exp(x[:, :BINS]), torch.sin(x[:, BINS:]))
        return torch.istft(spectra, N_FFT, HOP, N_FFT, self.window)[0]


class Voice(nn.Module):
    def __init__(self):
        super().__init__()
        self.prosody, self.text, self.sound = Prosody(), Text(), Sound()
        self.style = nn.Parameter(torch.randn(2 * STYLE))

    def styles(self):  # of the sound, of the prosody
        return self.style[:STYLE], self.style[STYLE:]


def mel_filters(n_fft, n):
    """[n_fft / 2 + 1, n] triangles."""
    edges = 700 * (10 ** (np.linspace(0, 2595 * math.log10(1 + 11000 / 700), n + 2) / 2595) - 1)
    bins = np.arange(n_fft // 2 + 1)[:, None] * HZ / n_fft
    rise, fall = (bins - edges[:-2]) / np.diff(edges)[:-1], (edges[2:] - bins) / np.diff(edges)[1:]
    return torch.tensor(np.maximum(0, np.minimum(rise, fall)), dtype=torch.float32)


SIZES = [256, 512, 1024]
WINDOWS = {n: torch.hann_window(n) for n in SIZES}
FILTERS = {n: mel_filters(n, 80) for n in (512, 1024)}


def sound_loss(made, real):
    total = 0
    for n in SIZES:
        a, b = (torch.stft(x, n, n // 4, n, WINDOWS[n], return_complex=True).abs() for x in (made, real))
        total = total + (torch.log(a + 1e-2) - torch.log(b + 1e-2)).abs().mean() + 0.5 * (a - b).norm() / (b.norm() + 1e-3)
        if n in FILTERS:
            total = total + 2 * (torch.log(a.T @ FILTERS[n] + 2e-2) - torch.log(b.T @ FILTERS[n] + 2e-2)).abs().mean()
    return total


def losses(model, one):
    ids, frames = torch.from_numpy(one.ids), torch.from_numpy(one.frames)
    pitch, energy = torch.from_numpy(one.pitch) / HZ_UNIT, torch.from_numpy(one.energy)
    style, manner = model.styles()
    hidden, logits = model.prosody(ids, manner)
    wanted = (torch.arange(DURATIONS) < frames[:, None]).float()
    durations = F.binary_cross_entropy_with_logits(logits, wanted) * 5 + 0.1 * (torch.sigmoid(logits).sum(1) - frames).abs().mean()
    curves = model.prosody.curves(hidden.repeat_interleave(frames, 0), manner)
    made = model.sound(model.text(ids).repeat_interleave(frames, 0), pitch, energy, torch.from_numpy(one.source).float(), style)
    real = torch.from_numpy(one.samples).float() / 32768
    return sound_loss(made, real), durations, (curves[0] - pitch).abs().mean(), (curves[1] - energy).abs().mean()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("--steps", type=int, default=2600)
    parser.add_argument("--minutes", type=float, default=1e9, help="ends the training, whatever the steps")
    parser.add_argument("--texts", type=int, default=1200)
    args = parser.parse_args()
    torch.manual_seed(1)
    torch.set_num_threads(1)
    model, path = Voice(), pathlib.Path(args.out)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1.0, betas=(0.9, 0.98), weight_decay=0.01)
    step, started = 0, time.monotonic()
    if path.exists():
        saved = torch.load(path, weights_only=True)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        step = saved["step"]
    texts, order, average = voice_data.spoken(args.texts, 1), random.Random(step), None
    print(f"{sum(p.numel() for p in model.parameters())} parameters; {len(texts)} texts after {time.monotonic() - started:.0f} s", flush=True)
    while step < args.steps:
        rate = 2e-3 * min(1.0, (step + 1) / 100) * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * step / args.steps)))
        for group in optimizer.param_groups:
            group["lr"] = rate
        parts = losses(model, order.choice(texts))
        optimizer.zero_grad(set_to_none=True)
        sum(parts).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        step += 1
        now = torch.stack([p.detach() for p in parts])
        average = now if average is None else 0.98 * average + 0.02 * now
        if step % 50 == 0:
            print(f"step {step} sound, durations, pitch, energy {average.numpy().round(3)} after {time.monotonic() - started:.0f} s", flush=True)
        late = time.monotonic() - started > 60 * args.minutes
        if step % 250 == 0 or step == args.steps or late:
            torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, path.with_suffix(".new"))
            path.with_suffix(".new").rename(path)
        if late:
            break


if __name__ == "__main__":
    sys.exit(main())
