"""Synthetic speech at 16 kHz with the times of its words and phonemes, by Debian's libespeak-ng1."""

import ctypes as c
import functools

import numpy as np

SYNCHRONOUS, PHONEME_EVENTS, IN_IPA = 2, 1, 2  # speak_lib.h
WORD, PHONEME = 1, 7
RATE, PITCH, RANGE = 1, 3, 4
IN_HZ, HZ = 22050, 16000


class Event(c.Structure):
    _fields_ = [("type", c.c_int), ("id", c.c_uint), ("text_position", c.c_int), ("length", c.c_int), ("ms", c.c_int),
                ("sample", c.c_int), ("user", c.c_void_p), ("name", c.c_char * 8)]


Callback = c.CFUNCTYPE(c.c_int, c.POINTER(c.c_short), c.c_int, c.POINTER(Event))


def resample(x):
    """From 22050 to 16000 Hz, by cutting the spectrum."""
    n = -(-len(x) // 441)
    spectrum = np.fft.rfft(x, n * 441)[: n * 160 + 1]
    return np.fft.irfft(spectrum, n * 320) * (HZ / IN_HZ)


@functools.cache
def library(options):
    it = c.CDLL("libespeak-ng.so.1")
    if it.espeak_Initialize(SYNCHRONOUS, 0, None, options) != IN_HZ:
        raise RuntimeError("espeak-ng has another sample rate")
    return it


class Speaker:
    def __init__(self, ipa=False):
        self.library = library(PHONEME_EVENTS | (IN_IPA if ipa else 0))
        self.callback = Callback(self.receive)

    def receive(self, samples, n, events):
        if samples and n:
            self.blocks.append(c.string_at(samples, 2 * n))
        i = 0
        while events[i].type:
            e = events[i]
            if e.type in (WORD, PHONEME):
                self.events.append((e.type, e.text_position - 1, e.sample / IN_HZ, e.name.decode("utf-8", "replace")))
            i += 1
        return 0

    def say(self, text, voice, rate, pitch, spread):
        """samples; [(index in the text, seconds)] of words; [(phoneme, seconds)], the last of which is silence."""
        if self.library.espeak_SetVoiceByName(voice.encode()) != 0:
            raise RuntimeError(f"espeak-ng has no voice {voice}")
        self.library.espeak_SetSynthCallback(self.callback)
        for parameter, value in ((RATE, rate), (PITCH, pitch), (RANGE, spread)):
            self.library.espeak_SetParameter(parameter, value, 0)
        self.blocks, self.events = [], []
        data = text.encode() + b"\0"
        self.library.espeak_Synth(data, len(data), 0, 1, 0, 1, None, None)
        self.library.espeak_Synchronize()
        samples = np.frombuffer(b"".join(self.blocks), np.int16) / 32768
        words = [(at, s) for kind, at, s, _ in self.events if kind == WORD]
        phonemes = [(name.strip('"\'%;'), s) for kind, _, s, name in self.events if kind == PHONEME]
        return resample(samples).astype(np.float32), words, [(p, s) for p, s in phonemes if p and not p.startswith("V")] or [("_", 0)]
