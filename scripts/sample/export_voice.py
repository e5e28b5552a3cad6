"""The GGUF file of what train_voice.py made, in TTS.cpp's layout of Kokoro. usage: export_voice.py IN.pt OUT.gguf

Matrices and convolutions in F16, all else in F32. The file carries a list of words with their phonemes, by espeak-ng.
"""

import pathlib
import sys

import numpy as np
import torch

import train_voice as t
from export import write
from voice_data import ALPHABET, FRAME, HARMONICS, HOP, N_FFT, SOURCE_WEIGHT
from word_list import pronounced

VOICE = "am_plain"
GATES = range(4)  # input, forget, cell, output: PyTorch's order, too


def linear(to, name, bias, part):
    to[name], to[bias] = part.weight, part.bias


def norm(to, name, part):
    to[name], to[name + "_bias"] = part.weight, part.bias


def adaptive(to, prefix, end, part):
    for kind in ("gamma", "beta"):
        name = f"{prefix}{kind}{end}"
        linear(to, name + "_weight", name + "_bias", getattr(part, kind))


def block(to, name, part):
    adaptive(to, name + ".norm1_", "", part.norm1)
    adaptive(to, name + ".norm2_", "", part.norm2)
    for kind in ("conv1", "conv2", "pool"):
        if conv := getattr(part, kind):
            linear(to, f"{name}.{kind}_weight", f"{name}.{kind}_bias", conv)
    if part.conv1x1:
        to[name + ".conv1x1_weight"] = part.conv1x1.weight


def residual(to, keys, name, key, part):
    for i, dilation in enumerate(t.DILATIONS):
        for j in (0, 1):
            adaptive(to, f"{name}.{i}.", str(j + 1), part.norms[2 * i + j])
            to[f"{name}.{i}.alpha{j + 1}"] = part.alphas[2 * i + j][None]
            linear(to, f"{name}.{i}.convs{j + 1}_weight", f"{name}.{i}.convs{j + 1}_bias", part.convs[2 * i + j])
        keys[f"{key}.{i}.padding"] = part.convs[2 * i].padding[0]
        keys[f"{key}.{i}.dilation"] = dilation


def recurrent(to, name, part):
    for kind, end in (("", ""), ("reverse_", "_reverse")):
        for i, of in ((0, "ih"), (1, "hh")):
            for side in ("weight", "bias"):
                for gate, values in zip(GATES, getattr(part, f"{side}_{of}_l0{end}").chunk(4)):
                    to[f"{name}.0.{kind}{side}{'s' if side == 'weight' else 'es'}.{2 * gate + i}"] = values


def prosody(to, part):
    a, d, bert = "albert.", "duration_predictor.", part.bert
    to |= {a + "token_embd": bert.tokens.weight, a + "position_embd": bert.positions.weight, a + "token_type_embd": bert.token_type}
    norm(to, a + "norm", bert.norm)
    linear(to, a + "embd", a + "embd_bias", bert.widen)
    for name in "qkvo":
        linear(to, f"{a}layer.0.{name}", f"{a}layer.0.{name}_bias", getattr(bert, name))
    linear(to, a + "layer.0.ffn", a + "layer.0.ffn_bias", bert.up)
    linear(to, a + "layer.0.ffn_out", a + "layer.0.ffn_out_bias", bert.down)
    norm(to, a + "layer.0.ffn_norm", bert.attention_norm)  # TTS.cpp's names
    norm(to, a + "layer.0.attn_norm", bert.out_norm)
    linear(to, d + "encode", d + "encode_bias", part.encode)
    for i, (layer, scale) in enumerate(zip(part.lstms, part.norms)):
        recurrent(to, f"{d}layers.{2 * i}.lstm", layer)
        adaptive(to, f"{d}layers.{2 * i + 1}.", "", scale)
    for name in ("duration_lstm", "shared_lstm"):
        recurrent(to, d + name, getattr(part, name))
    linear(to, d + "duration_proj", d + "duration_proj_bias", part.duration_proj)
    for name, blocks, last, unit in (("f0", part.f0_blocks, part.f0_proj, t.HZ_UNIT), ("n", part.n_blocks, part.n_proj, 1.0)):
        for i, one in enumerate(blocks):
            block(to, f"{d}{name}_blocks.{i}", one)
        to[f"{d}{name}_proj_kernel"], to[f"{d}{name}_proj_bias"] = last.weight * unit, last.bias * unit


def text(to, part):
    to["text_encoder.embedding_weight"] = part.embedding.weight
    for i, (conv, scale) in enumerate(zip(part.convs, part.norms)):
        name = f"text_encoder.layers.{i}"
        linear(to, name + ".weight", name + ".bias", conv)
        to[name + ".gamma"], to[name + ".beta"] = scale.weight, scale.bias
    recurrent(to, "text_encoder.lstm", part.lstm)


def sound(to, keys, part):
    d, g = "decoder.", "decoder.generator."
    to[d + "f0_conv_weight"], to[d + "f0_conv_bias"] = part.f0_conv.weight / t.HZ_UNIT, part.f0_conv.bias
    for name in ("n_conv", "asr_conv"):
        linear(to, f"{d}{name}_weight", f"{d}{name}_bias", getattr(part, name))
    block(to, d + "encoder_block", part.encoder_block)
    for i, one in enumerate(part.decoder_blocks):
        block(to, f"{d}decoder_blocks.{i}", one)
    to[g + "m_source_weight"], to[g + "m_source_bias"] = torch.full((1, HARMONICS), SOURCE_WEIGHT), torch.zeros(1)
    for i, up in enumerate(part.ups):
        linear(to, f"{g}ups.{i}.weight", f"{g}ups.{i}.bias", up)
        conv = part.source_convs[i]
        linear(to, f"{g}noise_blocks.{i}.conv_weight", f"{g}noise_blocks.{i}.conv_bias", conv)
        for name, of in (("up_convs", up), ("noise_blocks", conv)):
            keys[f"{g}{name}.{i}.padding"], keys[f"{g}{name}.{i}.stride"] = of.padding[0], of.stride[0]
        residual(to, keys, f"{g}noise_blocks.{i}.resblock", f"{g}noise_blocks.{i}.res_block", part.source_blocks[i])
    for i, one in enumerate(part.blocks):
        residual(to, keys, f"{g}resblocks.{i}", f"{g}res_blocks.{i}", one)
    linear(to, g + "conv_post_weight", g + "conv_post_bias", part.conv_post)


def keys_of(keys, parameters, words):
    a = "duration_predictor.albert."
    fixed = {
        a + "context_length": t.CONTEXT, a + "layers": 1, a + "attn_heads": t.HEADS, a + "hidden_size": t.EMBED, a + "recurrence": t.REPEATS,
        "duration_predictor.hidden_size": t.HIDDEN, "duration_predictor.layers": 2, "duration_predictor.f0_n_blocks": 3,
        "text_encoder.layers": 2, "decoder.generator.up_sampling_factor": FRAME, "decoder.generator.kernels": len(t.KERNELS),
        "decoder.generator.upsamples": len(t.STRIDES), "decoder.generator.layers": 2, "decoder.generator.padding": t.LAST_KERNEL // 2,
        "decoder.generator.n_fft": N_FFT, "decoder.generator.hop": HOP,
    }
    return [
        ("general.architecture", "str", "kokoro"), ("general.type", "str", "model"), ("general.name", "str", "Little Voice"),
        ("general.basename", "str", "little-voice"), ("general.size_label", "str", f"{parameters / 1e6:.1f}M"),
        ("general.version", "str", "v1.0"), ("general.license", "str", "mit"), ("general.languages", "strs", ["en"]),
        ("general.tags", "strs", ["text-to-speech"]),
        ("general.description", "str", "Speaks English as espeak-ng does. scripts/sample of the ggufscope project trains it."),
        ("general.file_type", "u32", 1), *((f"kokoro.{k}", "u32", v) for k, v in (fixed | keys).items()),
        ("phonemizer.type", "u32", 1), ("phonemizer.phoneme_type", "u32", 1), ("kokoro.voices", "strs", [VOICE]),
        ("tokenizer.ggml.tokens", "strs", ALPHABET),
        ("ggufscope.words", "strs", list(words)), ("ggufscope.word_phonemes", "strs", list(words.values())),
    ]


def type_of(name, shape):
    return "F32" if sum(n > 1 for n in shape) < 2 or "voice_tensors" in name or ".pool_" in name else "F16"


def main(source, target):
    model = t.Voice()
    model.load_state_dict(torch.load(source, weights_only=True)["model"])
    to, keys = {}, {}
    prosody(to, model.prosody)
    text(to, model.text)
    sound(to, keys, model.sound)
    to[f"voice_tensors.{VOICE}"] = model.style.expand(t.CONTEXT - 2, -1)
    weights = {f"kokoro.{k}": v.detach().numpy() for k, v in to.items()}
    parameters, words = sum(w.size for w in weights.values()), pronounced()
    write(target, keys_of(keys, parameters, words), weights, type_of)
    print(f"{target}: {parameters} parameters, {len(words)} words, {pathlib.Path(target).stat().st_size} bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
