"""Words with their phonemes by espeak-ng, for texts that are typed without another program.

The words are those of the samples' sentences, of this project's documentation, and of common_words.txt.
"""

import collections
import ctypes as c
import pathlib
import random
import re

import voice_data
from espeak import Speaker

HERE = pathlib.Path(__file__).resolve().parent
WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")
LITTLE = 12  # times that a word must be heard in sentences, so that its phonemes there are taken
LIMIT = 5200


def words():
    """Small letters, the most frequent of the documentation."""
    own = " ".join((HERE / name).read_text() for name in ("common_words.txt", "stories.py", "phrases.py"))
    out = dict.fromkeys(WORD.findall(own.lower()))
    paths = [voice_data.ROOT / "README.md", *voice_data.ROOT.glob("web/docs/**/*.md")]
    counts = collections.Counter(WORD.findall(" ".join(p.read_text() for p in paths).lower()))
    frequent = [w for w, n in sorted(counts.items(), key=lambda x: (-x[1], x[0])) if len(w) > 2 and n > 1]
    return list(dict.fromkeys([*out, *frequent]))[:LIMIT]


def alone(speaker, word):
    """The phonemes of a word that stands alone."""
    text = c.c_char_p(word.encode())
    left = c.c_void_p(c.cast(text, c.c_void_p).value)
    speaker.library.espeak_TextToPhonemes.restype = c.c_char_p
    out = []
    while left.value:
        out.append(speaker.library.espeak_TextToPhonemes(c.byref(left), 1, 2).decode())
    return re.sub(r"\([a-z-]+\)", "", " ".join(out)).strip()


def in_sentences(speaker, n):
    """The commonest phonemes of words in sentences, where little words have no stress."""
    heard, source = collections.defaultdict(collections.Counter), voice_data.texts(random.Random(5))
    for _ in range(n):
        text = next(source)
        said = WORD.findall(text.lower())
        phonemes = alone(speaker, re.sub(r"[^A-Za-z' ]", "", text)).split()
        if len(said) == len(phonemes):
            for word, sound in zip(said, phonemes):
                heard[word][sound] += 1
    return {w: x.most_common(1)[0][0] for w, x in heard.items() if x.total() >= LITTLE}


def pronounced():
    """{word: phonemes}. Capital letters are the names of letters."""
    speaker = Speaker(ipa=True)
    speaker.library.espeak_SetVoiceByName(voice_data.ACCENT.encode())
    heard = in_sentences(speaker, 4000)
    heard |= {"the": "ðə", "a": "ɐ"}
    letters = {chr(65 + i): alone(speaker, chr(65 + i)) for i in range(26)}
    found = letters | {w: heard.get(w) or alone(speaker, w) for w in sorted(words())}
    return {w: voice_data.as_read(sounds) for w, sounds in found.items()}
