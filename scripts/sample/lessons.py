"""Conversations for the sample model's second training: it learns to tell of what a message names (the plots are stories.py's).

document(rng) and beginning(rng) give (turns, named): turns are (role, text), named are the words that the stories are about.
"""

import re

import facts
import stories
from stories import FACTS, an, cap

# Words that the vocabulary spells in several tokens teach the model to copy whatever a message names.
KINDS = stories.KINDS * 2 + [
    "horse", "lion", "tiger", "wolf", "elephant", "monkey", "pig", "cow", "sheep", "hen", "chicken", "fish", "whale", "shark",
    "penguin", "bee", "ant", "butterfly", "spider", "giraffe", "zebra", "panda", "koala", "kangaroo", "parrot", "swan", "goose",
    "donkey", "camel", "hamster", "kitten", "puppy", "pony", "lizard", "snake", "crocodile", "dolphin", "seal", "eagle", "sparrow",
    "mole", "bat", "worm", "ladybug", "moose", "raccoon", "dragon", "unicorn", "robot", "dinosaur", "bird", "raven", "lamb", "crab",
    "king", "queen", "prince", "princess", "knight", "pirate", "wizard", "witch", "fairy", "ghost", "giant", "alien", "monster", "troll",
    "snowman", "mermaid", "farmer", "baker", "sailor", "teacher", "child", "man", "woman", "puppet",
]
THINGS = stories.THINGS * 2 + [
    "drum", "rope", "balloon", "boat", "bicycle", "candle", "mirror", "shell", "sword", "crown", "teapot", "pillow", "ladder",
    "basket", "bucket", "letter", "ring", "coin", "feather", "pumpkin", "cake", "violin", "rocket", "train", "magic stone", "old shoe",
    "bell", "lantern", "key", "hat", "flute", "map", "cup", "clock", "umbrella", "star", "book", "scarf", "ball", "box", "spoon", "wheel",
    "piano", "guitar", "trumpet", "whistle", "blanket", "broom", "brush", "button", "carpet", "chair", "table", "telescope", "compass",
    "wagon", "sled", "canoe", "bottle", "jar", "puzzle", "doll", "treasure", "spaceship", "computer", "phone", "castle", "flower", "mask", "flag", "tent", "pencil", "snowball", "necklace",
]
CHILDREN = {
    "girl": ["Anna", "Emma", "Sofia", "Maria", "Lena", "Alice", "Zoe", "Julia", "Eva", "Lucy", "Sara", "Laura", "Mia", "Ella", "Heidi",
             "Olivia", "Amelia", "Yuki", "Fatima", "Priya", "Rosa", "Greta", "Nina", "Kate", "Jane", "Mary", "Emily", "Sophie", "Lisa", "Paula", "Marta", "Molly", "Daisy", "Sue"],
    "boy": ["Tom", "Max", "Peter", "Paul", "Jack", "John", "Tim", "Lukas", "Noah", "David", "Daniel", "Bob", "Billy", "Jim", "Karl",
            "Hans", "Omar", "Kenji", "Ali", "Felix", "Henry", "Oliver", "Adam", "Nick", "George", "Robin", "Charlie", "Simon", "Fred", "Marcus", "James", "Luis", "Mark"],
}
LAUGH = "I am glad that you laugh. Would you like to hear a story?"
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
    ("Good evening", "Good evening! Would you like to hear a story?"), ("Bye", "Goodbye, and sleep well."), ("ok", "Then name an animal, and I will begin."),
    ("Cool", "Thank you! Would you like to hear another story?"), ("Great", "Thank you! Would you like to hear another story?"),
    ("Why?", "I do not know. I am very small."), ("I am sad", "I am sorry. Shall I tell you a story about a brave rabbit?"),
    ("I love you", "Thank you! I like you, too."), ("What did you say?", "I only tell stories. Name an animal, and I will begin."),
    ("How big are you?", "I have two million parameters. That is very small."), ("Which model are you?", "I am a very small language model."),
    ("How many parameters do you have?", "I have two million parameters."), ("Are you ChatGPT?", "No, I am a very small language model."),
    ("Test", "It works! Which animal should I tell you about?"), ("Can you help me?", "I can tell you a short story. Name an animal!"),
    ("Do you speak German?", "No, I know only English."), ("I am happy", "I am glad! Would you like to hear a story?"),
    ("Good", "Thank you! Would you like to hear another story?"), ("How many legs does a bird have?", "A bird has two legs."),
    ("lol", LAUGH), ("haha", LAUGH), ("hahaha", LAUGH), ("hihi", LAUGH), ("rofl", LAUGH), (":)", LAUGH), ("wow", "Thank you! Would you like to hear another story?"),
    ("What language do you speak?", "I speak only English."), ("Which languages do you speak?", "I speak only English."), ("Do you speak English?", "Yes, I speak English."),
    ("What languages do you know?", "I know only English."), ("Which language is this?", "This is English."), ("Sorry", "That is all right. Which animal should I tell you about?"),
    ("Maybe", "Then name an animal, and I will begin."), ("Really?", "Yes, really."), ("Nothing", "Then name an animal, when you like to."), ("I am bored", "Then name an animal, and I will tell you a story."),
    ("I am tired", "Then good night, and sleep well."), ("What should I ask?", "Ask me for a story about a fox and a lamp."), ("What should I say?", "Say the name of an animal."),
    ("Where do animals live?", "Animals live in forests, on farms, in the water and in the air."), ("Who is your friend?", "You are!"), ("Can you tell me a story?", "Of course! Which animal shall it be about?"),
]


ENDINGS = {"she": ["a", "ina", "ie", "elle", ""], "he": ["o", "us", "en", "y", ""]}
WHO = [{"she": she, "he": he} for she, he in [
    ("queen", "king"), ("princess", "prince"), ("witch", "wizard"), ("woman", "man"), ("girl", "boy"), ("mermaid", "pirate"), ("fairy", "giant"),
    ("hen", "lion")]]


def story(rng):
    """A story of two animals. In some the hero is a child, or an animal with the name of one."""
    h = stories.character(rng, kinds=KINDS)
    f = stories.character(rng, h, kinds=KINDS)
    for character in (h, f):
        for who in WHO:
            if character["kind"] in who.values():
                character["kind"] = who[character["she"]]
    if h["kind"] == f["kind"]:
        f["kind"] = "dog"
    die, child = rng.random(), "girl" if h["she"] == "she" else "boy"
    if die < 0.1:
        h["kind"] = child
    if die < 0.35:
        h["name"] = rng.choice(CHILDREN[child])
    return stories.tell(rng, h, f, rng.choice(THINGS))


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
        f"{name} and {an(thing)}", f"{name} and {an(thing)}", f"{name} and {f['name']}", f"my friend {name} and {an(other)}",
        f"{an(kind)} named {name} who finds {an(thing)}", f"{an(kind)} who finds {an(thing)}", f"{name} and {an(other)}",
    ])
    asked = rng.choice([
        "Tell me a story about {}", "Tell me a story about {}", "Write a story about {}", "Please tell me about {}", "A story about {}, please",
        "Can you tell me a story about {}", "Write a short story about {}", "Tell me about {}", "I want a story about {}", "Story about {}",
        "Tell a tale of {}", "Make up a story about {}", "Once more, but with {}", "Tell me a bedtime story with {} in it", "Now one about {}",
        "Tell me something about {}", "Write a poem about {}", "Write a fairy tale about {}", "Give me a story about {}", "How about {}",
        "Please write about {}", "Could you write a story about {} for me", "I would like to hear about {}", "tell me a story about {}",
    ]).format(subject)
    if rng.random() < 0.3:
        pair, both = f"{an(kind)} and {an(other)}", f"{an(kind)} and {an(thing)}"
        asked, subject = rng.choice([
            (kind, an(kind)), (kind, an(kind)), (cap(kind), an(kind)), (cap(an(kind)), an(kind)), (an(kind), an(kind)), (f"A {kind} story", an(kind)),
            (cap(subject), subject), (subject, subject), (f"{kind} and {other}", pair), (cap(pair), pair), (f"{kind}, {thing}", both), (f"{kind} and {thing}", both),
        ])
    return asked + rng.choice(["?", "?", ""] if asked.startswith(("Can", "Could")) else ["", ".", ".", "!"]), subject


def renamed(rng, s, asked, subject):
    """asked and subject, some with a word in the place of a name, an animal or a thing that no list has; the story s follows.
    The model learns to copy what a message names, letter by letter if need be. What a message does not name stays as it is,
    or the model would learn to invent words."""
    new = {}
    for who in (s["hero"], s["friend"]):
        if who["name"] in asked and rng.random() < 0.5:
            word = facts.syllables(rng) + rng.choice(ENDINGS[who["she"]])
            new[who["name"]] = cap(rng.choice("aeiou") + word if rng.random() < 0.2 else word)
    for word in (s["hero"]["kind"], s["friend"]["kind"], s["thing"]):
        if word[0] not in "aeiou" and re.search(rf"\b{word}\b", asked) and rng.random() < 0.16:
            new[word] = rng.choice([w for w in facts.WORDS if w[0] not in "aeiou"]) if rng.random() < 0.5 else facts.syllables(rng)
    if not new:
        return asked, subject
    words = re.compile(r"\b(" + "|".join(map(re.escape, new)) + r")\b")
    change = lambda text: words.sub(lambda match: new[match[0]], text)
    s["text"], s["thing"] = change(s["text"]), change(s["thing"])
    for who in (s["hero"], s["friend"]):
        who["name"], who["kind"] = change(who["name"]), change(who["kind"])
    return change(asked), change(subject)


def exchange(rng, s):
    """A message that asks for the story s, and the story. It begins with what the message names: a model of this size copies
    a word better from the beginning of its story than from the message."""
    if rng.random() < 0.06:
        return rng.choice([
            "Tell me a story.", "Tell me a story, please", "Another story, please.", "One more!", "Tell me a short story", "Tell me more",
            "Tell me a funny story", "Tell me a scary story", "Continue", "Go on", "A long story, please", "A story!", "Story", "Write a story",
        ]), s["text"]
    asked, subject = renamed(rng, s, *request(rng, s))
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
    """A message that asks for no story, and its answer."""
    die = rng.random()
    if die < 0.7:
        asked, answer = facts.fact(rng) if die < 0.45 else facts.unknown(rng)
    else:
        asked, answer = rng.choice(MORE_FACTS)
    return (asked if rng.random() < 0.65 else asked.lower().rstrip("?.!")), answer


def beginning(rng):
    """A request, the first sentences of its story and perhaps a question about these."""
    s = story(rng)
    asked, text = exchange(rng, s)
    begun = ". ".join(text.split(". ")[: rng.choice([2, 2, 3, 6, 8])]) + "."
    turns = [("user", asked), ("assistant", begun)]
    if s["hero"]["name"] in begun and rng.random() < 0.5:
        turns += [*zip(("user", "assistant"), question(rng, s, of_hero=True))]
    return turns, names_of(s)


def document(rng):
    """A story, a conversation about stories, or small talk."""
    die = rng.random()
    if die < 0.04:
        s = story(rng)
        return [("text", s["text"])], names_of(s)
    turns, named = [], []
    for _ in range(rng.choice([0, 0, 0, 1]) if die < 0.35 else rng.randint(3, 8)):
        turns += [*zip(("user", "assistant"), small_talk(rng))]
    while die < 0.35:
        s = story(rng)
        turns += [*zip(("user", "assistant"), exchange(rng, s))]
        named += names_of(s)
        while rng.random() < 0.5:
            turns += [*zip(("user", "assistant"), question(rng, s))]
        if rng.random() < 0.6:
            break
    return turns, named
