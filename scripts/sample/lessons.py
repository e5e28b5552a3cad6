"""Conversations for the sample model's second training: it learns to tell of what a message names (the plots are stories.py's).

document(rng) and beginning(rng) give (turns, named): turns are (role, text), named are the words that the stories are about.
"""

import stories
from stories import FACTS, an, cap

# Words that the vocabulary spells in several tokens teach the model to copy whatever a message names.
KINDS = stories.KINDS * 2 + [
    "horse", "lion", "tiger", "wolf", "elephant", "monkey", "pig", "cow", "sheep", "hen", "chicken", "fish", "whale", "shark",
    "penguin", "bee", "ant", "butterfly", "spider", "giraffe", "zebra", "panda", "koala", "kangaroo", "parrot", "swan", "goose",
    "donkey", "camel", "hamster", "kitten", "puppy", "pony", "lizard", "snake", "crocodile", "dolphin", "seal", "eagle", "sparrow",
    "mole", "bat", "worm", "ladybug", "moose", "raccoon", "dragon", "unicorn", "robot", "dinosaur", "bird", "raven", "lamb", "crab",
]
THINGS = stories.THINGS * 2 + [
    "drum", "rope", "balloon", "boat", "bicycle", "candle", "mirror", "shell", "sword", "crown", "teapot", "pillow", "ladder",
    "basket", "bucket", "letter", "ring", "coin", "feather", "pumpkin", "cake", "violin", "rocket", "train", "magic stone", "old shoe",
]
UNKNOWN = [
    "What is the capital of {p}?", "Who wrote this book?", "Who is the president of {p}?", "What is {n} times {m}?",
    "What is {n} plus {m}?", "How far is the moon?", "Write a program in Python.", "Translate this into French.",
    "What is the weather today?", "What time is it?", "How old is the earth?", "Explain how a computer works.", "What is {n} + {m}?",
    "How do I bake bread?", "What is quantum physics?", "Write me a poem.", "What year is it?", "Where is {p}?", "Who was Einstein?",
    "What is a language model?", "What is the meaning of life?", "Can you help me with my work?", "Sing me a song.",
]
LANDS = ["France", "Germany", "China", "Spain", "Italy", "Japan", "India", "Brazil", "Egypt", "Canada"]
DO_NOT_KNOW = [
    "I do not know. I am a very small model, and I only tell stories about animals.",
    "That is too hard for me. I am very small, and all I can do is tell little stories.",
]
MORE_FACTS = FACTS + [
    ("What is your name?", "I am a very small language model without a name."),
    ("Who made you?", "I was trained on little stories that were written by rules."),
    ("Do you like animals?", "Yes! All of my stories are about animals."), ("Tell me a joke.", "I know only stories. Name an animal!"),
    ("Help", "Name an animal and a thing, and I will tell you a story."), ("Who is there?", "A very small language model. Hello!"),
    ("What stories do you know?", "I know stories about foxes, owls, bears and many other animals."),
    ("What is your favorite color?", "I like green, the color of grass."), ("What is your favorite animal?", "I like all animals."),
    ("Hi there", "Hi there! Which animal should I tell you about?"), ("Hey", "Hello! Would you like to hear a story?"),
    ("How are you today?", "I am fine, thank you. Would you like to hear a story?"), ("Are you a person?", "No, I am a very small model."),
    ("Yes", "Then name an animal, and I will begin."), ("Yes, please", "Then name an animal, and I will begin."), ("No", "Then good night."),
    ("What does a cow say?", "A cow says moo."), ("What does a sheep say?", "A sheep says baa."),
    ("What do bears like?", "Bears like honey and berries."), ("What does a mouse eat?", "A mouse eats cheese and seeds."),
    ("How many legs does a bird have?", "A bird has two legs."), ("Can you tell me a story?", "Of course! Which animal shall it be about?"),
]


def names_of(s):
    h, f = s["hero"], s["friend"]
    return [h["kind"], h["name"], f["kind"], f["name"], h["adjective"], s["thing"]]


def request(rng, s):
    """A message that asks for the story s, and the words in it that say what the story is about."""
    h, f, thing = s["hero"], s["friend"], s["thing"]
    kind, other, name = h["kind"], f["kind"], h["name"]
    subject = rng.choice([
        an(kind), an(kind), an(kind), f"{an(h['adjective'])} {kind}", f"{an(kind)} and {an(thing)}", f"{an(kind)} and {an(other)}",
        f"{an(kind)} with {an(thing)}", f"{an(kind)} named {name}", f"{name} the {kind}", f"{an(kind)} and {an(other)}",
        f"{an(kind)} who meets {an(other)}", f"{an(kind)}, {an(other)} and {an(thing)}", name, an(thing), f"{an(kind)} called {name} and {an(thing)}",
    ])
    asked = rng.choice([
        "Tell me a story about {}", "Tell me a story about {}", "Write a story about {}", "Please tell me about {}", "A story about {}, please",
        "Can you tell me a story about {}", "Write a short story about {}", "Tell me about {}", "I want a story about {}", "Story about {}",
        "Tell a tale of {}", "Make up a story about {}", "Once more, but with {}", "Tell me a bedtime story with {} in it", "Now one about {}",
        "Please write about {}", "Could you write a story about {} for me", "I would like to hear about {}", "tell me a story about {}",
    ]).format(subject)
    if rng.random() < 0.15:
        pair, both = f"{an(kind)} and {an(other)}", f"{an(kind)} and {an(thing)}"
        asked, subject = rng.choice([
            (kind, an(kind)), (cap(kind), an(kind)), (cap(an(kind)), an(kind)), (f"A {kind} story", an(kind)),
            (f"{kind} and {other}", pair), (cap(pair), pair), (f"{kind}, {thing}", both), (f"{kind} and {thing}", both),
        ])
    return asked + rng.choice(["?", "?", ""] if asked.startswith(("Can", "Could")) else ["", ".", ".", "!"]), subject


def exchange(rng, s):
    """A message that asks for the story s, and the story. It begins with what the message names: a model of this size copies
    a word better from the beginning of its story than from the message."""
    if rng.random() < 0.04:
        return rng.choice(["Tell me a story.", "Tell me a story, please", "Another story, please.", "One more!"]), s["text"]
    asked, subject = request(rng, s)
    return asked, f"This is a story about {subject}. {s['text']}"


def question(rng, s, of_hero=False):
    """A question about the story s, or only about its hero, and its answer."""
    h, f = s["hero"], s["friend"]
    kind, name = h["kind"], h["name"]
    called, about = f"The {kind}'s name was {name}.", f"It is about {name}, {an(kind)}."
    if of_hero or rng.random() < 0.5:
        return rng.choice([
            (f"What was the {kind}'s name?", called), (f"What is the {kind} called?", called), ("What was the animal called?", called),
            (f"What was {h['hers']} name?", called), ("What was its name?", called), ("What is the name of the animal?", called),
            ("Who is the story about?", about), ("Who is it about?", about), (f"Who is {name}?", f"{name} was {an(kind)}."),
            (f"Who was {name}?", f"{name} was {an(kind)}."), (f"What kind of animal was {name}?", f"{name} was {an(kind)}."),
            (f"What was the name of the {kind}?", called), ("Which animal is it about?", about),
        ])
    return rng.choice([
        (f"What was the name of the {f['kind']}?", f"The {f['kind']}'s name was {f['name']}."),
        (f"Who was {f['name']}?", f"{f['name']} was {an(f['kind'])}."), ("Who was the friend?", f"It was {f['name']}, {an(f['kind'])}."),
        (f"Who did {name} meet?", f"{name} met {f['name']}, {an(f['kind'])}."), (f"Where did {name} live?", f"{name} lived {s['home']}."),
        ("Where was that?", f"{name} lived {s['home']}."), ("What can we learn from it?", s["moral"]), ("What is the moral?", s["moral"]),
        (rng.choice(["Why?", f"Why was {h['she']} sad?", f"How old was {name}?", "What happened then?", "How long did it take?", "Was it far?",
                     f"What color was {h['she']}?", "What did they eat?", "Is it true?"]), "The story does not say."),
        ("Thank you!", "You are welcome. Would you like to hear another story?"), ("Thanks", "You are welcome!"),
        ("That was nice", "Thank you! Would you like to hear another story?"), ("I like it", "Thank you! Would you like to hear another story?"),
    ])


def small_talk(rng):
    if rng.random() < 0.35:
        asked = rng.choice(UNKNOWN).format(p=rng.choice(LANDS), n=rng.randint(2, 99), m=rng.randint(2, 99))
        return asked, rng.choice(DO_NOT_KNOW)
    asked, answer = rng.choice(MORE_FACTS)
    return (asked if rng.random() < 0.65 else asked.lower().rstrip("?.!")), answer


def beginning(rng):
    """A request, the first sentences of its story and perhaps a question about these."""
    s = stories.write(rng, KINDS, THINGS)
    asked, text = exchange(rng, s)
    begun = ". ".join(text.split(". ")[: rng.choice([2, 2, 3, 6, 8])]) + "."
    turns = [("user", asked), ("assistant", begun)]
    if s["hero"]["name"] in begun and rng.random() < 0.5:
        turns += [*zip(("user", "assistant"), question(rng, s, of_hero=True))]
    return turns, names_of(s)


def document(rng):
    """A story, a conversation about stories, or small talk."""
    die = rng.random()
    if die < 0.1:
        s = stories.write(rng, KINDS, THINGS)
        return [("text", s["text"])], names_of(s)
    turns, named = [], []
    for _ in range(rng.choice([0, 0, 0, 1]) if die < 0.8 else rng.randint(1, 3)):
        turns += [*zip(("user", "assistant"), small_talk(rng))]
    while die < 0.8:
        s = stories.write(rng, KINDS, THINGS)
        named += names_of(s)
        turns += [*zip(("user", "assistant"), exchange(rng, s))]
        while rng.random() < 0.5:
            turns += [*zip(("user", "assistant"), question(rng, s))]
        if rng.random() < 0.6:
            break
    return turns, named
