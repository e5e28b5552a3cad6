"""Sentences for the speech sample, written by rules: commands, numbers and small scenes of about 130 words."""

from stories import FOODS, KINDS, NAMES, THINGS, an, cap

ONES = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
HOURS = [*ONES, "ten", "eleven", "twelve"]
TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
DEVICES = ["lamp", "radio", "heating", "music", "fan"]
ROOMS = ["kitchen", "bedroom", "garden", "hall", "cellar"]
PARTS = ["door", "window", "gate", "box"]
DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
VERBS = ["found", "lost", "carried", "painted", "wanted"]
FRIENDS = NAMES["she"][:5] + NAMES["he"][:5]
ANIMALS, GOODS, MEALS = KINDS[:8], THINGS[:8], FOODS[:4]
PHRASES = ["What time is it?", "Stop the music.", "Thank you very much.", "Good morning.", "Good night.", "Start again."]


def number(rng):
    return rng.choice(HOURS) if rng.random() < 0.5 else rng.choice(TENS) + rng.choice(["", f" {rng.choice(ONES)}"])


def sentence(rng):
    name, animal, thing, room = (rng.choice(x) for x in (FRIENDS, ANIMALS, GOODS, ROOMS))
    return rng.choice([
        lambda: f"Turn {rng.choice(['on', 'off'])} the {rng.choice(DEVICES)} in the {room}.",
        lambda: f"{rng.choice(['Open', 'Close'])} the {rng.choice(PARTS)} in the {room}, please.",
        lambda: f"Set a timer for {number(rng)} {rng.choice(['minutes', 'seconds', 'hours'])}.",
        lambda: f"Call {name} at {rng.choice(HOURS)} on {rng.choice(DAYS)}.",
        lambda: f"Where is the {thing}?",
        lambda: f"Please bring {rng.choice(MEALS)} and {rng.choice(MEALS)}.",
        lambda: f"The number is {' '.join(rng.choice(['zero', *ONES]) for _ in range(rng.randint(3, 5)))}.",
        lambda: f"{cap(number(rng))} and {number(rng)} is {number(rng)}.",
        lambda: f"{name} {rng.choice(VERBS)} {an(thing)} in the {room}.",
        lambda: f"The {animal} {rng.choice(VERBS)} the {thing}.",
        lambda: f"{name} gave the {animal} {an(thing)}.",
        lambda: rng.choice(PHRASES),
    ])()
