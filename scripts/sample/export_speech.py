"""The GGUF file of what train_speech.py made. usage: export_speech.py IN.npz OUT.gguf

Matrices in Q8_0, convolutions and positions in F16, norms and biases in F32.
"""

import pathlib
import sys

import numpy as np

from export import write
from train_speech import DECODER_LAYERS, ENCODER_LAYERS, GUIDED, HEADS, WIDTH
from windows import CONTEXT, FRAMES, MELS, WORDS


def type_of(name, shape):
    if len(shape) == 1:
        return "F32"
    return "F16" if "conv" in name or "positional" in name else "Q8_0"


def keys_of(tokens, merges, parameters):
    stack = lambda name, context, layers: [
        (f"whisper.{name}.context_length", "u32", context), (f"whisper.{name}.embedding_length", "u32", WIDTH),
        (f"whisper.{name}.block_count", "u32", layers), (f"whisper.{name}.attention.head_count", "u32", HEADS)]
    return [
        ("general.architecture", "str", "whisper"), ("general.type", "str", "model"), ("general.name", "str", "Little Commands"),
        ("general.basename", "str", "little-commands"), ("general.size_label", "str", f"{parameters / 1e6:.1f}M"),
        ("general.version", "str", "v1.0"), ("general.license", "str", "mit"), ("general.languages", "strs", ["en"]),
        ("general.tags", "strs", ["automatic-speech-recognition"]),
        ("general.description", "str", "Transcribes short sentences that espeak-ng speaks. scripts/sample of the ggufscope project trains it."),
        ("general.file_type", "u32", 7), ("general.quantization_version", "u32", 2),
        *stack("encoder", FRAMES, ENCODER_LAYERS), ("whisper.encoder.mels_count", "u32", MELS), *stack("decoder", CONTEXT, DECODER_LAYERS),
        ("whisper.decoder.alignment_heads", "i32s", [n for head in GUIDED for n in head]),
        ("tokenizer.ggml.model", "str", "gpt2"), ("tokenizer.ggml.pre", "str", "gpt-2"), ("tokenizer.ggml.tokens", "strs", tokens),
        ("tokenizer.ggml.token_type", "i32s", [5 if t.startswith("<|unused") else 1 if i < WORDS else 3 for i, t in enumerate(tokens)]),
        ("tokenizer.ggml.merges", "strs", merges), ("tokenizer.ggml.bos_token_id", "u32", WORDS),
        ("tokenizer.ggml.eos_token_id", "u32", WORDS), ("tokenizer.ggml.add_bos_token", "bool", False),
    ]


def main(source, target):
    data = np.load(source)
    weights = {k: data[k] for k in data.files if k not in ("tokens", "merges")}
    parameters = sum(w.size for w in weights.values())
    tokens, merges = ([str(t) for t in data[k]] for k in ("tokens", "merges"))
    write(target, keys_of(tokens, merges, parameters), weights, type_of)
    print(f"{target}: {parameters} parameters, {pathlib.Path(target).stat().st_size} bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
