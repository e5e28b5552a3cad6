#!/usr/bin/env python3
"""Writes core/jinja/unicode_tables.inc: what Python's str methods know of code points, asked of the Python that runs it.

Chat templates are defined by what Python makes of them: run it with Python 3.11 (Debian 12's python3), Unicode 14.
"""
import sys
import unicodedata
from pathlib import Path

LIMIT = 0x110000
# The order of the bits in core/jinja/unicode.hpp.
PROPERTIES = [
    str.isalpha, str.islower, str.isupper, str.isdecimal, str.isdigit, str.isnumeric, str.isspace, str.isprintable,
    str.isidentifier, lambda c: ("a" + c).isidentifier(), lambda c: unicodedata.category(c) == "Lt",
    lambda c: ("a" + c + "\u03a3").lower()[-1] == "\u03c2" and (c + "\u03a3").lower()[-1] == "\u03c3",
]


def flags(c):
    return sum(bool(holds(chr(c))) << bit for bit, holds in enumerate(PROPERTIES))


def varint(n):
    out = []
    while n >= 128:
        out.append(n & 127 | 128)
        n >>= 7
    return [*out, n]


def zigzag(n):
    return varint(n * 2 if n >= 0 else -n * 2 - 1)


def runs(mapping):
    """(first, count, stride, delta) rows of code points whose image is code point + delta."""
    rows = []
    for c, image in mapping:
        if rows:
            first, count, stride, delta = rows[-1]
            step = c - (first + (count - 1) * stride)
            if image - c == delta and (step == stride or (count == 1 and step in (1, 2))):
                rows[-1] = (first, count + 1, step, delta)
                continue
        rows.append((c, 1, 1, image - c))
    return rows


def wrap(items, per_line=32):
    return "\n".join("  " + " ".join(f"{item}," for item in items[i : i + per_line]) for i in range(0, len(items), per_line))


def main():
    if unicodedata.unidata_version != "14.0.0":
        sys.exit(f"needs Unicode 14.0.0 (Python 3.11), this Python has {unicodedata.unidata_version}")
    all_flags = [flags(c) for c in range(LIMIT)]
    kinds, packed, start = sorted(set(all_flags)), [], 0
    for c in range(1, LIMIT + 1):
        if c == LIMIT or all_flags[c] != all_flags[start]:
            packed += [kinds.index(all_flags[start]), *varint(c - start)]
            start = c
    out = (
        "// Written by scripts/make-python-unicode.py. Do not edit.\n// clang-format off\n"
        f"constexpr uint16_t kKinds[] = {{\n{wrap(kinds)}\n}};\n"
        f"constexpr uint8_t kKindRuns[] = {{  // kind, how many code points (varint)\n{wrap(packed)}\n}};\n"
    )
    maps = {"Lower": str.lower, "Upper": str.upper, "Title": lambda c: c.title(), "Fold": str.casefold}
    special = []
    for index, (name, image) in enumerate(maps.items()):
        # Titles that are upper case, and foldings that are lower case, go without saying.
        default = {"Title": str.upper, "Fold": str.lower}.get(name, lambda c: c)
        other = [c for c in range(LIMIT) if image(chr(c)) != default(chr(c))]
        # A title that is the character itself while its upper case is another counts as well.
        data, end = [], 0
        for first, count, stride, delta in runs([(c, ord(image(chr(c)))) for c in other if len(image(chr(c))) == 1]):
            data += varint(first - end) + varint(count * 2 + stride - 1) + zigzag(delta)
            end = first + (count - 1) * stride
        out += f"constexpr uint8_t k{name}Runs[] = {{  // gap, count * 2 + stride - 1, zigzag of what to add\n{wrap(data)}\n}};\n"
        special += [(index, c, image(chr(c))) for c in other if len(image(chr(c))) > 1]
    rows = [f"{{{c},{index},{{{','.join(str(ord(x)) for x in text)}}}}}" for index, c, text in special]
    out += f"constexpr Special kSpecial[] = {{  // code point, mapping, image\n{wrap(rows, 8)}\n}};\n// clang-format on\n"
    path = Path(__file__).parent.parent / "core" / "jinja" / "unicode_tables.inc"
    path.write_text(out)
    print(f"{path}: {len(kinds)} kinds, {len(packed)} bytes of runs, {len(special)} special mappings")


main()
