#!/usr/bin/env python3
"""Writes core/text/unicode_tables.inc from the Unicode data of the Python that runs it.

llama.cpp's tables are those of Unicode 15.1, so run it with Python 3.13 (Debian 13's python3), whose unicodedata has
that version: python3.13 scripts/make-unicode.py
"""
import sys
import unicodedata
from pathlib import Path

LIMIT = 0x110000
BLOCK = 128
WHITESPACE = {*range(0x9, 0xE), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000}
# The order of enum CharClass in unicode.hpp.
CLASSES = {"L": 1, "N": 2, "P": 3, "M": 4, "S": 5}


def char_class(c):
    if c in WHITESPACE:
        return 6
    category = unicodedata.category(chr(c))
    if category == "Cn":
        return 0
    return 7 if category[0] == "C" else CLASSES[category[0]]


def lower(c):
    return ord(chr(c).lower()[0])


def base(c):
    """The first code point of the canonical decomposition."""
    return ord(unicodedata.normalize("NFD", chr(c))[0])


def runs(mapping, strides):
    """(first, count, stride, delta) rows of code points whose image is code point + delta."""
    rows = []
    for c, image in mapping:
        if rows:
            first, count, stride, delta = rows[-1]
            step = c - (first + (count - 1) * stride)
            if image - c == delta and (step == stride or (count == 1 and step in strides)):
                rows[-1] = (first, count + 1, step, delta)
                continue
        rows.append((c, 1, 1, image - c))
    return rows


def constant_runs(mapping):
    """(first, count, image) rows of neighbours with the same image."""
    rows = []
    for c, image in mapping:
        if rows and rows[-1][0] + rows[-1][1] == c and rows[-1][2] == image:
            rows[-1] = (rows[-1][0], rows[-1][1] + 1, image)
        else:
            rows.append((c, 1, image))
    return rows


def varint(n):
    out = []
    while n >= 128:
        out.append(n & 127 | 128)
        n >>= 7
    return [*out, n]


def packed_runs(rows):
    """Each row as three varints: gap since the last run's end, count, and the image's zigzag distance from the last."""
    out, end, last = [], 0, 0
    for first, count, image in rows:
        distance = image - last
        out += varint(first - end) + varint(count) + varint(distance * 2 if distance >= 0 else -distance * 2 - 1)
        end, last = first + count, image
    return out


def wrap(items, per_line):
    return "\n".join("  " + " ".join(f"{item}," for item in items[i : i + per_line]) for i in range(0, len(items), per_line))


def main():
    if unicodedata.unidata_version != "15.1.0":
        sys.exit(f"needs Unicode 15.1.0 (Python 3.13), this Python has {unicodedata.unidata_version}")
    classes = [char_class(c) for c in range(LIMIT)]
    blocks, index = {}, []
    for start in range(0, LIMIT, BLOCK):
        block = tuple(classes[start : start + BLOCK])
        index.append(blocks.setdefault(block, len(blocks)))
    assert len(blocks) <= 256
    packed = [block[i] | block[i + 1] << 4 for block in blocks for i in range(0, BLOCK, 2)]
    # The index in runs: (block number, blocks), for it is long and mostly repeats.
    index_runs = []
    for number in index:
        if index_runs and index_runs[-1][0] == number:
            index_runs[-1][1] += 1
        else:
            index_runs.append([number, 1])
    lowercase = runs([(c, lower(c)) for c in range(LIMIT) if lower(c) != c], (1, 2))
    decomposed = [(c, base(c)) for c in range(LIMIT) if not 0xD800 <= c < 0xE000 and base(c) != c]
    bases = constant_runs(decomposed)

    out = Path(__file__).parent.parent / "core" / "text" / "unicode_tables.inc"
    out.write_text(
        f"// Unicode {unicodedata.unidata_version}, written by scripts/make-unicode.py. Do not edit.\n"
        f"// clang-format off\n"
        f"constexpr uint8_t kClassBlocks[] = {{  // {len(blocks)} blocks of {BLOCK} code points, two classes a byte, low half first\n{wrap(packed, 32)}\n}};\n"
        f"constexpr uint16_t kClassIndexRuns[][2] = {{  // block number, how many neighbouring blocks it stands for\n"
        + wrap([f"{{{a},{b}}}" for a, b in index_runs], 14)
        + "\n};\n"
        "constexpr CaseRun kLowercase[] = {  // first, count, stride, what to add\n"
        + wrap([f"{{{a},{b},{s},{d}}}" for a, b, s, d in lowercase], 8)
        + "\n};\n"
        "constexpr uint8_t kPackedBases[] = {  // of each run three varints: gap before it, code points, zigzag distance of the base from the last\n"
        + wrap(packed_runs(bases), 40)
        + "\n};\n// clang-format on\n"
    )
    print(f"{out}: {len(blocks)} blocks, {len(index_runs)} index runs, {len(lowercase)} case runs, {len(bases)} base runs")


main()
