"""Windows of five seconds of synthetic speech: log-mel spectrogram, tokens in Whisper's form, and what helps to learn them."""

import numpy as np

import phrases
from espeak import HZ, Speaker
from vocabulary import Encoder, learn

WORDS, TIMES = 608, 251  # tokens; timestamps every 20 ms of the window
CONTROL = ["endoftext", "startoftranscript", "translate", "transcribe", "startoflm", "startofprev", "nospeech", "notimestamps"]
MELS, FRAMES, CONTEXT = 80, 250, 96  # encoder frames of 20 ms; tokens of the decoder
SECONDS = FRAMES / 50
ACCENT = "en-us"
LEARNED, HELD_OUT = ["", "+m1", "+m2", "+m3", "+m5", "+m7", "+f1", "+f2", "+f4", "+f5"], ["+m4", "+f3"]


def vocabulary(rng):
    """(tokens, merges, encoder): words of the phrases, then the control tokens by OpenAI's names."""
    tokens, merges = learn([" " + phrases.sentence(rng) for _ in range(20000)], WORDS + 4)
    tokens = tokens[:WORDS] + [f"<|{name}|>" for name in CONTROL] + [f"<|{i / 50:.2f}|>" for i in range(TIMES)]
    encoder = Encoder(tokens, merges)
    encoder.pieces = dict(enumerate(encoder.ids))
    return tokens, merges, encoder


def slaney_filters():
    """[201, MELS], as core/media/log_mel.cpp."""
    step = np.log(6.4) / 27
    hz = lambda m: np.where(m < 15, m * 200 / 3, 1000 * np.exp(step * (m - 15)))
    edges = hz(np.linspace(0, 15 + np.log(8) / step, MELS + 2))
    bins = np.arange(201)[:, None] * 40.0
    rise, fall = (bins - edges[:-2]) / (edges[1:-1] - edges[:-2]), (edges[2:] - bins) / (edges[2:] - edges[1:-1])
    return np.maximum(0, np.minimum(rise, fall)) * 2 / (edges[2:] - edges[:-2])


FILTERS = slaney_filters()
HANN = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(400) / 400)


def log_mel(samples):
    """[MELS, len / 160]"""
    padded = np.concatenate([samples[200:0:-1], samples, np.zeros(200)])
    cut = np.lib.stride_tricks.sliding_window_view(padded, 400)[: len(samples) // 160 * 160 : 160]
    mel = np.log10(np.maximum(np.abs(np.fft.rfft(cut * HANN)) ** 2 @ FILTERS, 1e-10))
    return ((np.maximum(mel, mel.max() - 8) + 4) / 4).T.astype(np.float32)


class Sentence:
    """A spoken sentence: samples, tokens with the times at which each is said, phonemes."""

    def __init__(self, rng, speaker, encoder, voices):
        self.text = phrases.sentence(rng)
        voice = ACCENT + rng.choice(voices)
        self.samples, words, phonemes = speaker.say(self.text, voice, rng.randint(150, 210), rng.randint(35, 65), rng.randint(35, 65))
        self.tokens = encoder.text(" " + self.text)
        sound = [i for i, (p, _) in enumerate(phonemes) if not p.startswith("_")]
        self.begin = phonemes[sound[0]][1] if sound else 0
        self.end = phonemes[min(sound[-1] + 1, len(phonemes) - 1)][1] if sound else len(self.samples) / HZ
        self.phonemes = phonemes
        self.spans, at = [], -1  # the text has a space in front, which the events do not count
        for token in self.tokens:
            at += len(encoder.pieces[token])
            begins = [s for i, s in words if 0 <= i < at]
            ends = [s for i, s in words if i >= at]
            self.spans.append((begins[-1] if begins else self.begin, ends[0] if ends else self.end))


def phoneme_ids(rng, encoder):
    """Numbers of the phonemes that sentences contain; 0 is silence."""
    speaker = Speaker()
    names = {name for _ in range(400) for name, _ in Sentence(rng, speaker, encoder, LEARNED).phonemes if not name.startswith("_")}
    return {name: i + 1 for i, name in enumerate(sorted(names))}


class Windows:
    def __init__(self, rng, encoder, phonemes, voices=LEARNED):
        self.rng, self.encoder, self.voices = rng, encoder, voices
        self.noise = np.random.default_rng(rng.randrange(1 << 30))
        self.speaker = Speaker()
        self.phonemes = phonemes
        self.id = {name: encoder.ids[f"<|{name}|>"] for name in CONTROL}
        self.zero = encoder.ids["<|0.00|>"]

    def sentence(self):
        return Sentence(self.rng, self.speaker, self.encoder, self.voices)

    def spoken(self):
        """samples, [(sentence, begin in seconds)] of those that begin in the window."""
        rng, n = self.rng, FRAMES * 320
        sound, said, at = np.zeros(n, np.float32), [], rng.uniform(0, 1.2)
        while at < SECONDS - 0.6:
            s = self.sentence()
            i, gain = int(at * HZ), rng.uniform(0.3, 1.5)
            part = s.samples[: n - i] * gain
            sound[i : i + len(part)] += part
            said.append((s, at))
            if rng.random() < 0.3:
                break
            at += s.end + rng.uniform(0.15, 1.2)
        return sound, said

    def stamp(self, seconds):
        return self.zero + int(round(seconds * 50))

    def window(self):
        """A dictionary: mel, ids, targets (-1: not learned), spans [(first, last frame) or None], phonemes of each frame."""
        rng = self.rng
        silent = rng.random() < 0.08
        sound, said = (np.zeros(FRAMES * 320, np.float32), []) if silent else self.spoken()
        self.disturb(sound, said)
        heard = np.zeros(FRAMES, np.int64)
        for s, at in said:
            for name, begin in s.phonemes:
                heard[min(FRAMES, int((at + begin) * 50)) :] = self.phonemes.get(name, 0)
            heard[min(FRAMES, int((at + s.end) * 50)) :] = 0
        timed = silent or rng.random() < 0.7
        head = [self.id["startoftranscript"], *([] if timed else [self.id["notimestamps"]])]
        tokens, spans = self.transcript(said, timed)
        if rng.random() < 0.5:
            n = min(CONTEXT // 2 - 1, CONTEXT - len(head) - len(tokens) - 1)
            head = [self.id["startofprev"], *self.previous(timed and rng.random() < 0.8)[-n:], *head]
        if silent:
            head, tokens, spans = [*head, self.zero], [self.id["endoftext"]], [None]
        ids, targets = head + tokens[:-1], [-1] * (len(head) - 1) + tokens
        if silent:  # no speech is likelier than Whisper's threshold; otherwise the window has no text from 0.00 on
            targets[len(head) - 2] = self.id["nospeech"] if rng.random() < 0.75 else self.zero
        return {"mel": log_mel(sound), "ids": ids, "targets": targets, "spans": [None] * (len(head) - 1) + spans, "heard": heard}

    def previous(self, timed):
        """Tokens of a text before the window, as a transcript or as a user's prompt."""
        rng, tokens, at = self.rng, [], 0.0
        for _ in range(rng.randint(1, 6)):
            begin = at + rng.uniform(0, 1.2)
            at = begin + rng.uniform(0.7, 2.2)
            if at > SECONDS:
                begin, at = 0.3, 2.0
            words = self.encoder.text(" " + phrases.sentence(rng))
            tokens += [self.stamp(begin), *words, self.stamp(at)] if timed else words
        return tokens

    def transcript(self, said, timed):
        tokens, spans = [], []
        for s, at in said:
            begin, end = at + s.begin, at + s.end
            if timed:
                tokens.append(self.stamp(begin))
                spans.append((begin, begin + 0.1))
            if end > SECONDS:
                break  # the next window begins here
            tokens += s.tokens
            spans += [(at + a, at + b) for a, b in s.spans]
            if timed:
                tokens.append(self.stamp(end))
                spans.append((end - 0.1, end + 0.1))
        return tokens + [self.id["endoftext"]], spans + [None]

    def disturb(self, sound, said):
        """Noise of some level, which stops before the end in half of the windows, as a short recording does."""
        rng, n = self.rng, len(sound)
        level = 10 ** rng.uniform(-4.5, -1.7) if rng.random() < 0.7 else 0
        stop = n
        if said and rng.random() < 0.5:
            stop = int(rng.uniform(min(n, (said[-1][1] + said[-1][0].end + 0.1) * HZ), n))
        noise = self.noise.standard_normal(stop)
        if rng.random() < 0.5:  # mostly low frequencies
            spectrum = np.fft.rfft(noise)
            noise = np.fft.irfft(spectrum / (1 + np.arange(len(spectrum)) / (0.02 * len(spectrum))), stop) * 4
        sound[:stop] += noise * level
        sound[stop:] = 0
        if level > 0:
            np.round(sound * 32768, out=sound)
            sound /= 32768


def batch(windows, n):
    """numpy arrays: mel [n, MELS, 2 FRAMES], ids and targets [n, tokens], spans [n, tokens, 2] in frames (-1: none), heard"""
    rows = [windows.window() for _ in range(n)]
    length = max(len(r["ids"]) for r in rows)
    ids, targets = np.zeros((n, length), np.int64), np.full((n, length), -1)
    spans = np.full((n, length, 2), -1)
    for i, r in enumerate(rows):
        ids[i, : len(r["ids"])] = r["ids"]
        targets[i, : len(r["targets"])] = r["targets"]
        for j, span in enumerate(r["spans"]):
            if span is not None:
                first = min(max(0, int(span[0] * 50) - 1), FRAMES - 1)
                spans[i, j] = first, min(FRAMES, max(first + 3, int(span[1] * 50) + 2))
    return np.stack([r["mel"] for r in rows]), ids, targets, spans, np.stack([r["heard"] for r in rows])
