"""What the voice sample learns from: sentences that espeak-ng speaks, with phonemes, frames, pitch, energy and a harmonic source."""

import pathlib
import random
import re

import numpy as np

import phrases
import stories
from espeak import IN_HZ, PHONEME, WORD, Speaker

ROOT = pathlib.Path(__file__).resolve().parents[2]
HZ, FRAME, VALUE = 24000, 480, 240  # samples of a frame, and of a value of the pitch and the energy
N_FFT, HOP = 160, 40
HARMONICS, SOURCE_WEIGHT = 24, 0.5
ACCENT, RATE, PITCH, SPREAD = "en-us", 150, 50, 50
BEFORE, AFTER = 3, 4  # frames of silence
MAX_TOKENS, MAX_SECONDS = 150, 4.2
# What espeak-ng's English consists of, marks, and what other lists of English use.
ALPHABET = ["", *" .,?!;:", "—", "…", *"ˈˌː", *"abdefhijklmnopstuvwz", *"æðŋɐɑɒɔɕəɚɛɜɡɪɫɬɹɾʃʊʌʒʔθᵻβɲ", "\u0303", "\u0329", "ɝ", "ʤ", "ʧ", "g"]
IDS = {c: i for i, c in enumerate(ALPHABET)}
MARKS = re.compile(r"[.,?!;:]+(?=\s|$)")


def documents():
    """Sentences of this project's own documentation, of plain words."""
    out = []
    for path in sorted([ROOT / "README.md", *ROOT.glob("web/docs/**/*.md")]):
        text = re.sub(r"```.*?```", " ", path.read_text(), flags=re.S)
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
        out += [s.strip() for s in re.findall(r"[A-Z][a-z' ,]+[.?]", text) if 20 < len(s.strip()) < 75]
    return sorted(set(out))


def texts(rng):
    """Sentences without end: commands, stories and documentation."""
    other = documents()
    while True:
        die = rng.random()
        if die < 0.45:
            yield " ".join(phrases.sentence(rng) for _ in range(rng.choice([1, 1, 2])))
        elif die < 0.7:
            story = stories.write(rng)["text"].replace('"', "")
            yield rng.choice([s for s in re.findall(r"[^.?!]+[.?!]", story) if len(s) < 90] or ["Hello."]).strip()
        else:
            yield rng.choice(other)


def resample(x):
    """From 22050 to 24000 Hz, by continuing the spectrum with zeros."""
    n = -(-len(x) // 147)
    return np.fft.irfft(np.fft.rfft(x, n * 147), n * 160) * (160 / 147)


def as_read(names):
    """espeak-ng's letters as the package passes them on (asKokoroReads in wasm/src/audio/phonemes.ts), one for one."""
    text = names.translate(str.maketrans("rxɬʲ", "ɹklj"))
    return re.sub(r"nˈaɪnti(?!ː)", "nˈaɪndi", text)


def ends_clause(events, i):
    """Whether a sound without a name is a pause: a word, another one or nothing follows. Others belong to the sound before."""
    return i + 1 == len(events) or events[i + 1][0] == WORD or events[i + 1][3] == ""


def tokens_of(text, events, end):
    """[(character, time of its beginning in seconds)] of a text's events: phonemes, spaces before words, marks after clauses."""
    words = [e for e in events if e[0] == WORD]
    out, n_words = [], 0
    for i, (kind, place, time, name) in enumerate(events):
        if kind == WORD:
            if n_words > 0 and place > 0 and out:
                out.append((" ", time))
            n_words += 1
        elif name:
            until = next((t for k, _, t, _ in events[i + 1 :] if k == PHONEME), end)
            out += [(c, time + (until - time) * j / len(name)) for j, c in enumerate(name)]
        elif ends_clause(events, i) and out and out[-1][0] not in ".,?!;: ":
            stop = words[n_words][1] if n_words < len(words) else len(text)
            if mark := MARKS.search(text, words[n_words - 1][1] if n_words > 0 else 0, stop):
                out.append((mark[0][0], time))
    return out


def frames_of(times, end):
    """Numbers of frames, at least one for each time."""
    begins = [0]
    for t in times[1:]:
        begins.append(max(begins[-1] + 1, round(t * HZ / FRAME)))
    return np.diff([*begins, max(begins[-1] + 1, round(end * HZ / FRAME))])


def pitch_of(x, n):
    """Hz of each value by autocorrelation, 0 where there is no voice. The voice's range is less than an octave."""
    size, low, high = 720, 170, 345  # samples: 30 ms, 141 Hz, 70 Hz
    padded = np.pad(x, size + high)
    begin = size + high + VALUE // 2 - (size + high) // 2
    cut = np.lib.stride_tricks.sliding_window_view(padded, size + high)[begin :: VALUE][:n]
    spectrum = np.conj(np.fft.rfft(cut[:, :size], 2048)) * np.fft.rfft(cut, 2048)
    squares = np.cumsum(np.pad(cut ** 2, ((0, 0), (1, 0))), 1)
    energy = squares[:, size : size + high + 1] - squares[:, : high + 1]
    score = np.fft.irfft(spectrum, 2048)[:, : high + 1] / np.sqrt(energy[:, :1] * energy + 1e-4)
    rows, lag = np.arange(n), score[:, low:high].argmax(1) + low
    a, b, c = (score[rows, np.clip(lag + i, low, high)] for i in (-1, 0, 1))
    shift = np.clip(0.5 * (a - c) / np.minimum(a - 2 * b + c, -1e-9), -0.5, 0.5)
    is_voiced = (b > 0.5) & (np.sqrt(energy[:, 0] / size) > 0.006) & (lag > low) & (lag < high - 1)
    return np.where(is_voiced, HZ / (lag + shift), 0).astype(np.float32)


def energy_of(x, n):
    """The logarithm of each value's loudness, about -1 to 1."""
    padded = np.pad(x, (VALUE // 2, VALUE))
    cut = np.lib.stride_tricks.sliding_window_view(padded, 2 * VALUE)[::VALUE][:n]
    return ((np.log(1e-3 + np.sqrt((cut ** 2).mean(1))) + 4.5) / 2).astype(np.float32)


def source_of(pitch, noise):
    """The harmonic source, as core/speech/kokoro_source.cpp has it."""
    n = len(pitch)
    at = np.maximum((np.arange(n * VALUE) + 0.5) / VALUE - 0.5, 0)
    base = np.interp(at, np.arange(n), np.cumsum(pitch.astype(float)) / HZ * VALUE)  # harmonics are multiples of it
    voiced = np.repeat(pitch > 10, VALUE)
    turns = (2 * np.pi * (base % 1)).astype(np.float32)
    total = sum(np.sin(np.float32(h) * turns) for h in range(1, HARMONICS + 1)) * voiced * 0.1 * SOURCE_WEIGHT
    loud = SOURCE_WEIGHT * np.sqrt(HARMONICS) * np.where(voiced, 0.003, 0.1 / 3)
    return np.tanh(total + loud * noise.standard_normal(n * VALUE)).astype(np.float16)


class Spoken:
    """A spoken text: ids and frames of each token, pitch and energy, samples, source."""

    def __init__(self, text, speaker, rng, noise):
        speaker.say(text, ACCENT, RATE, PITCH, SPREAD)
        samples = resample(np.frombuffer(b"".join(speaker.blocks), np.int16) / 32768)
        events, end = speaker.events, len(samples) / HZ
        found = tokens_of(text, events, end)
        letters = as_read("".join(c for c, _ in found))
        found = [(c, t) for c, (_, t) in zip(letters, found) if c in IDS]
        if rng.random() < 0.15:  # some spaces less: espeak-ng joins little words
            found = [(c, t) for c, t in found if c != " " or rng.random() < 0.7]
        lead = BEFORE * FRAME / HZ
        half = FRAME / HZ / 2
        times = [0, *(lead + t + (-half if c == " " else 0) for c, t in found), lead + end]
        self.text, self.letters = text, "".join(c for c, _ in found)
        self.ids = np.array([0, *(IDS[c] for c, _ in found), 0])
        self.frames = frames_of(times, lead + end + AFTER * FRAME / HZ)
        n = int(self.frames.sum())
        x = np.zeros(n * FRAME)
        part = samples[: (n - BEFORE) * FRAME]
        x[BEFORE * FRAME : BEFORE * FRAME + len(part)] = part
        self.pitch, self.energy = pitch_of(x, 2 * n), energy_of(x, 2 * n)
        self.source = source_of(self.pitch, noise)
        self.samples = np.rint(x * 32767).astype(np.int16)


def spoken(n, seed):
    rng, noise, speaker = random.Random(seed), np.random.default_rng(seed), Speaker(ipa=True)
    out, source = [], texts(rng)
    while len(out) < n:
        one = Spoken(next(source), speaker, rng, noise)
        if len(one.ids) <= MAX_TOKENS and len(one.samples) < MAX_SECONDS * HZ:
            out.append(one)
    return out
