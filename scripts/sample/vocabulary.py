"""A byte-level BPE vocabulary in GPT-2's form, learned from text, and its encoder (for ASCII text)."""

import collections
import re

# GPT-2's pre-tokenizer, reduced to ASCII, which is all that the stories use.
WORDS = re.compile(r"'s|'t|'re|'ve|'m|'ll|'d| ?[A-Za-z]+| ?[0-9]+| ?[^\sA-Za-z0-9]+|\s+(?!\S)|\s+")
CONTROL = ["<|begin|>", "<|end|>", "<|user|>", "<|assistant|>"]


def byte_letters():
    """GPT-2's printable letter of each byte."""
    visible = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters = {b: chr(b) for b in visible}
    hidden = [b for b in range(256) if b not in letters]
    return {**letters, **{b: chr(256 + i) for i, b in enumerate(hidden)}}


LETTERS = byte_letters()


def merge(symbols, pair):
    out, i = [], 0
    while i < len(symbols):
        if i + 1 < len(symbols) and (symbols[i], symbols[i + 1]) == pair:
            out.append(symbols[i] + symbols[i + 1])
            i += 2
        else:
            out.append(symbols[i])
            i += 1
    return out


def letters(word):
    return [LETTERS[b] for b in word.encode()]


def learn(texts, size):
    """(tokens, merges) with len(tokens) == size: bytes, merged pieces, control tokens at the end."""
    counts = collections.Counter(word for text in texts for word in WORDS.findall(text))
    words = [(letters(word), n) for word, n in counts.items()]
    tokens, merges = sorted(LETTERS.values()), []
    while len(tokens) < size - len(CONTROL):
        pairs = collections.Counter()
        for symbols, n in words:
            for pair in zip(symbols, symbols[1:]):
                pairs[pair] += n
        if not pairs:
            break
        best = max(pairs, key=lambda p: (pairs[p], p))
        merges.append(best)
        if best[0] + best[1] not in tokens:
            tokens.append(best[0] + best[1])
        words = [(merge(symbols, best), n) for symbols, n in words]
    tokens += [f"<|unused{i}|>" for i in range(size - len(CONTROL) - len(tokens))] + CONTROL
    return tokens, merges


class Encoder:
    def __init__(self, tokens, merges):
        self.ids = {token: i for i, token in enumerate(tokens)}
        self.ranks = {pair: i for i, pair in enumerate(merges)}
        self.cache = {}

    def word(self, word):
        if word not in self.cache:
            symbols = letters(word)
            while len(symbols) > 1:
                rank, pair = min((self.ranks.get(p, len(self.ranks)), p) for p in zip(symbols, symbols[1:]))
                if rank == len(self.ranks):
                    break
                symbols = merge(symbols, pair)
            self.cache[word] = [self.ids[s] for s in symbols]
        return self.cache[word]

    def text(self, text):
        return [i for word in WORDS.findall(text) for i in self.word(word)]

    def document(self, turns):
        """Ids of [(role, text)], and for each whether the model is to learn to say it."""
        ids, learn_it = [self.ids["<|begin|>"]], [False]
        for role, text in turns:
            if role != "text":
                ids.append(self.ids[f"<|{role}|>"])
                learn_it.append(False)
            said = self.text(text) + [self.ids["<|end|>"]]
            ids += said
            learn_it += [role != "user"] * len(said)
        return ids, learn_it
