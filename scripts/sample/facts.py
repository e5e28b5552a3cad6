"""What the sample model learns to answer besides stories: facts about animals, and that it does not know the rest.

fact(rng) and unknown(rng) give (question, answer). The facts are a table; the questions that the model cannot answer are made of
words of every kind, so that it learns what they have in common instead of single questions.
"""

import pathlib

LAND, SEA, BIRD, INSECT, REPTILE = "mammal", "fish", "bird", "insect", "reptile"
ANIMALS = [  # one, many, class, legs, lives, sleeps, eats, says, flies, swims
    ("fox", "foxes", LAND, 4, "in the forest", "in a burrow", "mice and berries", "yip", 0, 1),
    ("rabbit", "rabbits", LAND, 4, "in the meadow", "in a burrow", "carrots and grass", "", 0, 0),
    ("bear", "bears", LAND, 4, "in the forest", "in a cave", "honey and berries", "growl", 0, 1),
    ("mouse", "mice", LAND, 4, "in the field", "in a little hole", "cheese and seeds", "squeak", 0, 0),
    ("owl", "owls", BIRD, 2, "in the forest", "in a hollow tree", "mice", "hoo, hoo", 1, 0),
    ("frog", "frogs", "", 4, "by the pond", "in the mud", "flies", "ribbit", 0, 1),
    ("duck", "ducks", BIRD, 2, "by the pond", "on the water", "bread and plants", "quack", 1, 1),
    ("cat", "cats", LAND, 4, "in a house", "in a warm bed", "fish and mice", "meow", 0, 0),
    ("dog", "dogs", LAND, 4, "in a house", "in a basket", "meat", "woof", 0, 1),
    ("hedgehog", "hedgehogs", LAND, 4, "in the garden", "under the leaves", "worms and snails", "", 0, 0),
    ("squirrel", "squirrels", LAND, 4, "in the trees", "in a nest", "nuts", "", 0, 0),
    ("turtle", "turtles", REPTILE, 4, "by the water", "in the mud", "plants", "", 0, 1),
    ("crow", "crows", BIRD, 2, "in the field", "in a tree", "seeds and worms", "caw", 1, 0),
    ("deer", "deer", LAND, 4, "in the forest", "in the tall grass", "grass and leaves", "", 0, 1),
    ("beaver", "beavers", LAND, 4, "in the river", "in a house of sticks", "wood and plants", "", 0, 1),
    ("goat", "goats", LAND, 4, "on the mountain", "in a barn", "grass and leaves", "meh", 0, 0),
    ("badger", "badgers", LAND, 4, "in the forest", "in a burrow", "worms and roots", "", 0, 0),
    ("snail", "snails", "", 0, "in the garden", "in its shell", "leaves", "", 0, 0),
    ("robin", "robins", BIRD, 2, "in the garden", "in a nest", "worms and berries", "tweet", 1, 0),
    ("otter", "otters", LAND, 4, "in the river", "by the river", "fish", "", 0, 1),
    ("horse", "horses", LAND, 4, "on a farm", "in a stable", "grass and apples", "neigh", 0, 1),
    ("lion", "lions", LAND, 4, "in the grassland", "under a tree", "meat", "roar", 0, 0),
    ("tiger", "tigers", LAND, 4, "in the jungle", "in the tall grass", "meat", "roar", 0, 1),
    ("wolf", "wolves", LAND, 4, "in the forest", "in a cave", "meat", "howl", 0, 1),
    ("elephant", "elephants", LAND, 4, "in the grassland", "under a tree", "leaves and fruit", "", 0, 1),
    ("monkey", "monkeys", LAND, 4, "in the jungle", "in a tree", "bananas", "", 0, 0),
    ("pig", "pigs", LAND, 4, "on a farm", "in the straw", "almost everything", "oink", 0, 1),
    ("cow", "cows", LAND, 4, "on a farm", "in a barn", "grass", "moo", 0, 0),
    ("sheep", "sheep", LAND, 4, "on a farm", "in a barn", "grass", "baa", 0, 0),
    ("hen", "hens", BIRD, 2, "on a farm", "in a henhouse", "seeds and worms", "cluck", 0, 0),
    ("chicken", "chickens", BIRD, 2, "on a farm", "in a henhouse", "seeds and worms", "cluck", 0, 0),
    ("fish", "fish", SEA, 0, "in the water", "in the water", "plants and little animals", "", 0, 1),
    ("whale", "whales", LAND, 0, "in the sea", "in the water", "fish", "", 0, 1),
    ("shark", "sharks", SEA, 0, "in the sea", "in the water", "fish", "", 0, 1),
    ("penguin", "penguins", BIRD, 2, "on the ice", "on the ice", "fish", "", 0, 1),
    ("bee", "bees", INSECT, 6, "in a hive", "in a hive", "the juice of flowers", "buzz", 1, 0),
    ("ant", "ants", INSECT, 6, "in the ground", "in the ground", "seeds and sugar", "", 0, 0),
    ("butterfly", "butterflies", INSECT, 6, "in the meadow", "under a leaf", "the juice of flowers", "", 1, 0),
    ("spider", "spiders", "", 8, "in a web", "in a web", "flies", "", 0, 0),
    ("giraffe", "giraffes", LAND, 4, "in the grassland", "under a tree", "leaves", "", 0, 0),
    ("zebra", "zebras", LAND, 4, "in the grassland", "in the tall grass", "grass", "", 0, 0),
    ("panda", "pandas", LAND, 4, "in the forest", "in a tree", "bamboo", "", 0, 0),
    ("parrot", "parrots", BIRD, 2, "in the jungle", "in a tree", "fruit and nuts", "hello", 1, 0),
    ("swan", "swans", BIRD, 2, "on the lake", "by the lake", "plants", "", 1, 1),
    ("goose", "geese", BIRD, 2, "on a farm", "by the pond", "grass", "honk", 1, 1),
    ("donkey", "donkeys", LAND, 4, "on a farm", "in a stable", "grass", "hee-haw", 0, 0),
    ("camel", "camels", LAND, 4, "in the desert", "in the sand", "grass", "", 0, 0),
    ("snake", "snakes", REPTILE, 0, "in the grass", "under a stone", "mice", "hiss", 0, 1),
    ("crocodile", "crocodiles", REPTILE, 4, "in the river", "by the river", "meat and fish", "", 0, 1),
    ("dolphin", "dolphins", LAND, 0, "in the sea", "in the water", "fish", "", 0, 1),
    ("eagle", "eagles", BIRD, 2, "on the mountain", "in a nest", "fish and mice", "", 1, 0),
    ("bat", "bats", LAND, 2, "in a cave", "in a cave", "flies", "", 1, 0),
    ("worm", "worms", "", 0, "in the ground", "in the ground", "leaves", "", 0, 0),
]
NAMES = {name for one, many, *_ in ANIMALS for name in (one, many)}
NUMBERS = {0: "no", 2: "two", 4: "four", 6: "six", 8: "eight"}
MAKES = [("cows", "milk"), ("goats", "milk"), ("sheep", "wool"), ("hens", "eggs"), ("chickens", "eggs"), ("ducks", "eggs"),
         ("bees", "honey"), ("spiders", "webs"), ("birds", "nests")]

WORDS = pathlib.Path(__file__).with_name("common_words.txt").read_text().split()
PLACES = ["France", "Germany", "China", "Spain", "Italy", "Japan", "India", "Brazil", "Egypt", "Canada", "Paris", "London", "Berlin",
          "New York", "Africa", "Mars", "Europe", "America", "Rome", "Russia"]
PEOPLE = ["Einstein", "Newton", "Shakespeare", "Mozart", "Obama", "Napoleon", "Taylor Swift", "Darwin", "Plato", "Elon Musk", "Bach"]
LANGUAGES = ["Python", "JavaScript", "C++", "Rust", "SQL", "HTML", "Java", "C", "TypeScript", "Go"]
TONGUES = ["French", "German", "Chinese", "Spanish", "Italian", "Japanese", "Latin"]
FIRST = ["capital", "history", "president", "weather", "population", "price", "meaning", "name", "king", "answer", "difference", "size",
         "best part", "language", "flag", "square root", "purpose", "recipe"]
QUESTIONS = [
    "What is {w}?", "What is a {w}?", "What is the {f} of {p}?", "What is the {f} of {w}?", "What are the {w} and the {v}?", "Who is {h}?",
    "Who was {h}?", "Who invented the {w}?", "Who wrote {w} and {v}?", "Where is {p}?", "Where was {h} born?", "When was {h} born?",
    "When did the {w} end?", "Why is the {w} {v}?", "Why do people {w}?", "How does a {w} work?", "How do I {w} a {v}?", "How far is {p}?",
    "How many {w} are in {p}?", "How old is {h}?", "How much is a {w}?", "Explain {w} to me.", "Explain the {w} of {v}.", "Define {w}.",
    "Write a program in {l}.", "Write a {l} function that prints {w}.", "Write {l} code for a {w}.", "How do I {w} in {l}?",
    "Fix this {l} code: {w} = {n}", "What is {l}?", "Translate {w} into {t}.", "Translate this into {t}: {w} {v}", "Say {w} in {t}.",
    "What is {n} times {m}?", "What is {n} plus {m}?", "What is {n} minus {m}?", "{n}+{m}", "{n} * {m}", "What is {n} + {m}?", "{n} / {m} =",
    "Calculate {n} times {m}.", "Write a letter about {w}.", "Write an essay about {w}.", "Summarize the {w}.", "Summarize this: {w} {v}",
    "List three {w}.", "Give me five words for {w}.", "What do you think about {w}?", "Is {w} better than {v}?", "Should I {w} or {v}?",
    "Which {w} should I buy?", "What is the weather today?", "What time is it?", "What day is it?", "What year is it?", "Tell me about {p}.",
    "Tell me about {h}.", "Can you help me with my {w}?", "Can you {w} a {v}?", "What does {w} mean?", "Make a table of {w} and {v}.",
    "Answer in JSON.", "Give me a JSON object with {w} and {v}.", "Describe the picture.", "What is in this image?", "Plan a trip to {p}.",
    "Give me a recipe for {w}.", "What is the difference between {w} and {v}?", "Recommend a {w}.", "{x} {y}", "How do {w} fly?", "What do {w} eat?", "Can {w} {v}?", "Where do {w} live?",
    "What is the meaning of life?", "What is a language model?", "Explain how a computer works.", "How does the internet work?",
    "What is artificial intelligence?", "What is machine learning?", "Write me a song.", "Is it going to rain?", "Do you know {h}?",
    "Erz\u00e4hl mir eine Geschichte.", "Wie geht es dir?", "Hola", "Bonjour", "\u4f60\u597d", "Guten Tag",
]
UNKNOWN = [
    "I do not know. I am a very small model, and I only tell stories about animals.",
    "That is too hard for me. I am very small, and all I can do is tell little stories.",
]
RUDE = ["You are {r}.", "You are so {r}!", "This is {r}.", "that was {r}", "{r}", "You {r} model", "I hate you.", "I do not like it.",
        "Your story is {r}.", "You do not understand me.", "That is wrong.", "That makes no sense.", "Shut up", "no, that is {r}"]
WORSE = ["stupid", "bad", "dumb", "terrible", "boring", "useless", "wrong", "nonsense", "awful", "silly", "an idiot"]
SORRY = "I am sorry. I am a very small model, but I will try again. Which animal shall the story be about?"


ONSETS = [*"bcdfghjklmnprstvwzbcdfghklmnprstw", "br", "ch", "cl", "dr", "fl", "fr", "gr", "kr", "pl", "qu", "sh", "sl", "st", "str", "th", "tr", "bb", "ff",
          "ll", "mm", "nn", "pp", "rr", "ss", "tt", "zz"]
VOWELS = [*"aeiouaeiouaeiouy", "ai", "ea", "ee", "ia", "ie", "io", "oa", "oo", "ou"]
CODAS = ["", "", "", "", "ck", "ff", "l", "lf", "m", "n", "nd", "ng", "r", "rt", "s", "sh", "st", "t", "x"]


def syllables(rng):
    """A word that nobody knows, as messages have them."""
    word = "".join(rng.choice(ONSETS) + rng.choice(VOWELS) for _ in range(rng.choice([1, 2, 2, 3]))) + rng.choice(CODAS)
    return word[1:] if len(word) > 1 and word[0] == word[1] else word


def fact(rng):
    """A question about an animal of the table, and its answer."""
    one, many, kind, legs, lives, sleeps, eats, says, flies, swims = rng.choice(ANIMALS)
    a = ("an " if one[0] in "aeiou" else "a ") + one
    it = rng.choice([(f"do {many}", many, ""), (f"does {a}", a, "s")])
    subject = it[1][0].upper() + it[1][1:]
    can, able = rng.choice([("fly", flies), ("swim", swims)])
    group = rng.choice([BIRD, SEA, INSECT])
    group_of = ("an " if group[0] in "aeiou" else "a ") + group
    if rng.random() < 0.12:
        maker, made = rng.choice(MAKES)
        verb = rng.choice(["make", "make", "give"]) if made in ("milk", "wool", "eggs", "honey") else "make"
        return f"What do {maker} {verb}?", f"{maker[0].upper()}{maker[1:]} {verb} {made}."
    choices = [
        (f"Where {it[0]} live?", f"{subject} live{it[2]} {lives}."), (f"Where {it[0]} sleep?", f"{subject} sleep{it[2]} {sleeps}."),
        (f"What {it[0]} eat?", f"{subject} eat{it[2]} {eats}."), (f"What {it[0]} like to eat?", f"{subject} like{it[2]} {eats}."),
        (f"Can {it[1]} {can}?", f"{'Yes' if able else 'No'}, {it[1]} can{'' if able else 'not'} {can}."),
        (f"How many legs {it[0]} have?", f"{subject} {'has' if it[2] else 'have'} {NUMBERS[legs]} legs."),
        (f"Is {a} {group_of}?", f"Yes, {a} is {group_of}." if kind == group else f"No, {a} is not {group_of}."),
    ]
    if says:
        choices += [(f"What {it[0]} say?", f"{subject} say{it[2]} {says}."), (f"What {rng.choice(['sound', 'noise', 'sounds', 'noises'])} {it[0]} make?", f"{subject} say{it[2]} {says}."),
                    (f"How {it[0]} sound?", f"{subject} say{it[2]} {says}.")]
    return rng.choice(choices)


def unknown(rng):
    """A message that no lesson prepares for, and what the model says then."""
    if rng.random() < 0.12:
        return rng.choice(RUDE).format(r=rng.choice(WORSE)), SORRY
    if rng.random() < 0.06:
        return f"My name is {rng.choice(PEOPLE)}", "Nice to meet you! Which animal should I tell you about?"
    w, v = rng.choice(WORDS), rng.choice(WORDS)
    if rng.random() < 0.15:
        w = syllables(rng)
    if w in NAMES or v in NAMES:
        w, v = "computer", "number"
    asked = rng.choice(QUESTIONS).format(
        w=w, v=v, x=syllables(rng), y=syllables(rng), f=rng.choice(FIRST), p=rng.choice(PLACES), h=rng.choice(PEOPLE), l=rng.choice(LANGUAGES),
        t=rng.choice(TONGUES), n=rng.randint(0, 99), m=rng.randint(0, 99))
    return asked, rng.choice(UNKNOWN)
