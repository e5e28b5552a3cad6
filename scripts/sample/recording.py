"""A recording of sentences and voices that the speech sample did not learn from, and its word error rate.

usage: recording.py OUT.wav OUT.json [--sentences N] [--seed N] [--model MODEL.gguf]
OUT.json lists the sentences and words with their times in seconds.
With a model, transcribes the recording with wasm/dist/cli.js and prints the word error rate.
"""

import argparse
import json
import pathlib
import random
import subprocess
import wave

import numpy as np

import windows
from espeak import HZ, Speaker
from train_speech import edits, words as words_of

ROOT = pathlib.Path(__file__).resolve().parents[2]


def record(n, seed):
    """samples, sentences"""
    rng, noise, speaker = random.Random(seed), np.random.default_rng(seed), Speaker()
    encoder = windows.vocabulary(random.Random(1))[2]
    parts, said, at = [np.zeros(HZ // 4)], [], 0.25
    for _ in range(n):
        s = windows.Sentence(rng, speaker, encoder, windows.HELD_OUT)
        parts += [s.samples[: int(s.end * HZ)], np.zeros(int(rng.uniform(0.5, 1) * HZ))]
        words, first = [], 0
        for word in s.text.split():
            words.append({"word": word, "start": round(at + s.spans[first][0], 2)})
            first += len(encoder.text(" " + word))
        said.append({"text": s.text, "start": round(at + s.begin, 2), "end": round(at + s.end, 2), "words": words})
        at += sum(map(len, parts[-2:])) / HZ
    samples = np.concatenate(parts)
    return samples + noise.standard_normal(len(samples)) * 1e-3, said


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("wav")
    parser.add_argument("json")
    parser.add_argument("--sentences", type=int, default=3)
    parser.add_argument("--seed", type=int, default=4)
    parser.add_argument("--model")
    args = parser.parse_args()
    samples, sentences = record(args.sentences, args.seed)
    with wave.open(args.wav, "wb") as out:
        out.setparams((1, 2, HZ, len(samples), "NONE", None))
        out.writeframes((np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes())
    pathlib.Path(args.json).write_text(json.dumps(sentences, indent=1) + "\n")
    if args.model:
        heard = subprocess.run(["node", ROOT / "wasm/dist/cli.js", "transcribe", args.wav, "--model", args.model],
                               check=True, stdout=subprocess.PIPE, text=True).stdout
        print(heard)
        said = words_of(" ".join(s["text"] for s in sentences))
        print(f"word error rate {edits(said, words_of(heard)) / len(said):.3f} of {len(said)} words")


if __name__ == "__main__":
    main()
