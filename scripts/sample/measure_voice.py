"""How well the speech sample understands the voice sample: the word error rate of sentences that neither learned from.

usage: measure_voice.py VOICE.gguf EAR.gguf [--sentences N] [--seed N]
Speaks and transcribes with wasm/dist/cli.js, sentence by sentence, and does the same with espeak-ng's own sound of them.
"""

import argparse
import pathlib
import random
import subprocess
import tempfile
import wave

import numpy as np

import phrases
import voice_data
from espeak import HZ, Speaker
from train_speech import edits, words

CLI = pathlib.Path(__file__).resolve().parents[2] / "wasm/dist/cli.js"


def cli(*arguments):
    return subprocess.run(["node", CLI, *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("voice")
    parser.add_argument("ear")
    parser.add_argument("--sentences", type=int, default=100)
    parser.add_argument("--seed", type=int, default=91)
    args = parser.parse_args()
    rng, speaker = random.Random(args.seed), Speaker()
    wrong, total = {"voice": 0, "espeak-ng": 0}, 0
    with tempfile.TemporaryDirectory() as folder:
        path = str(pathlib.Path(folder) / "spoken.wav")
        for i in range(args.sentences):
            text = phrases.sentence(rng)
            total += len(words(text))
            for who in wrong:
                if who == "voice":
                    cli("speak", args.voice, text, "--seed", str(i), "--output", path, "--force")
                else:
                    samples = speaker.say(text, voice_data.ACCENT, voice_data.RATE, voice_data.PITCH, voice_data.SPREAD)[0]
                    with wave.open(path, "wb") as out:
                        out.setparams((1, 2, HZ, len(samples), "NONE", None))
                        out.writeframes((np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes())
                heard = cli("transcribe", path, "--model", args.ear)
                mistakes = edits(words(text), words(heard))
                wrong[who] += mistakes
                if mistakes:
                    print(f"{who}: {text} -> {heard.strip()}", flush=True)
    for who, n in wrong.items():
        print(f"{who}: word error rate {n / total:.4f} of {total} words")


if __name__ == "__main__":
    main()
