"""The GGUF file of what train.py made. usage: export.py IN.npz OUT.gguf

Attention in Q6_K and feed-forward in Q4_K by the core's own quantizers (quantize.cpp is compiled for it), embeddings in
Q8_0, norms in F32.
"""

import pathlib
import struct
import subprocess
import sys

import numpy as np

from vocabulary import CONTROL

ROOT = pathlib.Path(__file__).resolve().parents[2]
IDS = {"F32": 0, "F16": 1, "Q8_0": 8, "Q4_K": 12, "Q6_K": 14}
# scripts/sample/train.py
CONTEXT, WIDTH, LAYERS, HEADS, KV_HEADS, FEED_FORWARD = 384, 256, 3, 8, 4, 512

TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}{% if message['role'] == 'assistant' %}<|assistant|>{% else %}<|user|>"
    "{% endif %}{{ message['content'] | trim }}<|end|>{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def type_of(name, shape):
    if len(shape) == 1:
        return "F32"
    if name == "token_embd.weight":
        return "Q8_0"
    return "Q4_K" if "ffn" in name else "Q6_K"


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def entry(key, kind, value):
    kinds = {"u32": (4, "<I"), "i32": (5, "<i"), "f32": (6, "<f"), "bool": (7, "<?")}
    if kind == "str":
        return text(key) + struct.pack("<I", 8) + text(value)
    if kind == "strs":
        return text(key) + struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(text, value))
    if kind == "i32s":
        return text(key) + struct.pack("<IIQ", 9, 5, len(value)) + struct.pack(f"<{len(value)}i", *value)
    return text(key) + struct.pack("<I", kinds[kind][0]) + struct.pack(kinds[kind][1], value)


def q8_0(weights):
    blocks = weights.reshape(-1, 32)
    scales = np.abs(blocks).max(1, keepdims=True) / np.float32(127)
    out = np.zeros(len(blocks), [("scale", "<f2"), ("values", "i1", 32)])
    out["scale"] = scales[:, 0]
    out["values"] = np.rint(blocks / np.maximum(scales, 1e-30))
    return out


PLAIN = {"F32": lambda w: w, "F16": lambda w: w.astype(np.float16), "Q8_0": q8_0}


def quantizer():
    """The core's quantizers as a program."""
    program = ROOT / "build/quantize"
    if not program.exists():
        program.parent.mkdir(exist_ok=True)
        sources = [*ROOT.glob("core/quant/*.cpp"), *ROOT.glob("core/types/*.cpp"), *ROOT.glob("core/base/*.cpp")]
        subprocess.run(["g++", "-std=c++23", "-O1", "-ffp-contract=off", f"-I{ROOT}/core", ROOT / "scripts/sample/quantize.cpp",
                        *sources, "-o", program], check=True)
    return program


def write(target, keys, weights, type_of):
    """keys: (name, kind, value); weights: arrays by tensor name; type_of(name, shape): an entry of IDS."""
    infos, blobs, offset = [], [], 0
    for name, w in weights.items():
        w = np.ascontiguousarray(w, np.float32)
        kind = type_of(name, w.shape)
        blob = PLAIN[kind](w).tobytes() if kind in PLAIN else subprocess.run(
            [quantizer(), kind, str(w.shape[-1])], input=w.tobytes(), stdout=subprocess.PIPE, check=True).stdout
        shape = w.shape[::-1]
        infos.append(text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, IDS[kind], offset))
        blob += b"\0" * (-len(blob) % 32)
        blobs.append(blob)
        offset += len(blob)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(infos), len(keys)) + b"".join(entry(*k) for k in keys) + b"".join(infos)
    pathlib.Path(target).write_bytes(head + b"\0" * (-len(head) % 32) + b"".join(blobs))


def main(source, target):
    data = np.load(source)
    tokens = [str(t) for t in data["tokens"]]
    ids = {t: i for i, t in enumerate(tokens)}
    weights = {k: data[k] for k in data.files if k.endswith(".weight")}
    parameters = sum(w.size for w in weights.values())
    keys = [
        ("general.architecture", "str", "llama"), ("general.type", "str", "model"), ("general.name", "str", "Little Animal Stories"),
        ("general.basename", "str", "little-animal-stories"), ("general.size_label", "str", f"{parameters / 1e6:.1f}M"),
        ("general.version", "str", "v1.4"), ("general.license", "str", "mit"), ("general.languages", "strs", ["en"]),
        ("general.tags", "strs", ["text-generation", "stories"]),
        ("general.description", "str", "Tells short stories about animals. Trained on a CPU on stories written by rules: "
         "scripts/sample of the ggufscope project makes it anew."),
        ("general.file_type", "u32", 15), ("general.quantization_version", "u32", 2),
        ("general.sampling.temp", "f32", 0.7), ("general.sampling.top_k", "i32", 40),
        ("llama.context_length", "u32", CONTEXT), ("llama.embedding_length", "u32", WIDTH), ("llama.block_count", "u32", LAYERS),
        ("llama.feed_forward_length", "u32", FEED_FORWARD), ("llama.attention.head_count", "u32", HEADS),
        ("llama.attention.head_count_kv", "u32", KV_HEADS), ("llama.attention.layer_norm_rms_epsilon", "f32", 1e-5),
        ("llama.rope.dimension_count", "u32", WIDTH // HEADS), ("llama.rope.freq_base", "f32", 10000.0),
        ("llama.vocab_size", "u32", len(tokens)),
        ("tokenizer.ggml.model", "str", "gpt2"), ("tokenizer.ggml.pre", "str", "gpt-2"), ("tokenizer.ggml.tokens", "strs", tokens),
        ("tokenizer.ggml.token_type", "i32s", [3 if t in CONTROL else 5 if t.startswith("<|unused") else 1 for t in tokens]),
        ("tokenizer.ggml.merges", "strs", [str(m) for m in data["merges"]]),
        ("tokenizer.ggml.bos_token_id", "u32", ids["<|begin|>"]), ("tokenizer.ggml.eos_token_id", "u32", ids["<|end|>"]),
        ("tokenizer.ggml.padding_token_id", "u32", ids["<|end|>"]), ("tokenizer.ggml.add_bos_token", "bool", True),
        ("tokenizer.chat_template", "str", TEMPLATE),
    ]
    write(target, keys, weights, type_of)
    print(f"{target}: {parameters} parameters, {pathlib.Path(target).stat().st_size} bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
