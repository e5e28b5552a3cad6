"""Stories and small talk for the sample model, written by rules: every word of the first training comes from this file.

write(rng) gives one story as data, document(rng) one training document as a list of (role, text); role "text" is plain.
lessons.py writes the conversations of the second training with the same plots.
"""

KINDS = [  # kind, pronoun forms follow the name's
    "fox", "rabbit", "bear", "mouse", "owl", "frog", "duck", "cat", "dog", "hedgehog", "squirrel", "turtle", "crow",
    "deer", "beaver", "goat", "badger", "snail", "robin", "otter",
]
NAMES = {
    "she": ["Mila", "Ruby", "Nora", "Tessa", "Lily", "Ada", "Pia", "Wren", "Hazel", "Ivy", "Juno", "Clara"],
    "he": ["Oskar", "Milo", "Finn", "Theo", "Hugo", "Ben", "Emil", "Otto", "Jasper", "Leo", "Sam", "Toby"],
}
FORMS = {"she": ("she", "her", "her"), "he": ("he", "him", "his")}
ADJECTIVES = ["small", "curious", "brave", "shy", "clever", "kind", "old", "young", "sleepy", "cheerful", "quiet", "busy"]
HOMES = [
    "in a warm burrow under an oak tree", "at the edge of a green forest", "beside a quiet pond", "in a tiny house on a hill",
    "near an old stone bridge", "in a garden full of flowers", "by the side of a long river", "under a big red barn",
    "at the foot of a snowy mountain", "in a hollow tree near the lake",
]
HOBBIES = [
    ("count the stars", "counting the stars"), ("sing little songs", "singing little songs"),
    ("collect shiny stones", "collecting shiny stones"), ("draw maps", "drawing maps"),
    ("bake honey cakes", "baking honey cakes"), ("watch the clouds", "watching the clouds"),
    ("plant seeds", "planting seeds"), ("tell jokes", "telling jokes"), ("read old books", "reading old books"),
    ("climb tall trees", "climbing tall trees"), ("splash in the rain", "splashing in the rain"),
    ("play the drum", "playing the drum"),
]
THINGS = [
    "lamp", "kite", "red hat", "silver key", "little boat", "blue ball", "wooden flute", "golden bell", "warm scarf",
    "paper map", "green cup", "tiny clock", "yellow umbrella", "music box", "glass star", "picture book",
]
PLACES = [
    "the dark cave", "the old mill", "the tall hill", "the misty meadow", "the sandy beach", "the berry bushes",
    "the deep well", "the market", "the apple orchard", "the frozen lake", "the winding path", "the mossy rocks",
]
FOODS = ["berries", "apples", "honey cakes", "nuts", "warm soup", "carrots", "bread", "pears", "cheese", "mushrooms"]
WEATHER = ["sunny", "windy", "rainy", "foggy", "snowy", "cold", "warm", "bright"]
MORALS = {
    "lost": ["Two pairs of eyes see more than one.", "What is lost can be found with patience.", "A friend makes every search shorter."],
    "sharing": ["A shared meal tastes twice as good.", "Kindness always finds its way home.", "Those who give are never poor."],
    "brave": ["Being brave means going on while you are afraid.", "Most scary things are small when you come close.", "Courage grows with every step."],
    "build": ["Every mistake is a good teacher.", "Try again, and again, and once more.", "Slow work is often good work."],
    "friend": ["A smile is the shortest bridge.", "Every friend was once a stranger.", "It is good to say hello first."],
    "gift": ["The best gifts are made with love.", "A small gift can hold a big heart.", "It is the thought that shines."],
    "storm": ["Together we are stronger than any storm.", "There is always room for one more.", "After the rain comes the sun."],
}
FACTS = [
    ("What color is the sky?", "The sky is blue, and at night it is dark and full of stars."),
    ("What color is grass?", "Grass is green."), ("What do bees make?", "Bees make honey."),
    ("What does a cat say?", "A cat says meow."), ("What does a dog say?", "A dog says woof."),
    ("What does a duck say?", "A duck says quack."), ("What does an owl say?", "An owl says hoo, hoo."),
    ("How many legs does a spider have?", "A spider has eight legs."), ("How many legs does a dog have?", "A dog has four legs."),
    ("How many days are in a week?", "There are seven days in a week."), ("What comes after winter?", "After winter comes spring."),
    ("What comes after summer?", "After summer comes autumn."), ("What falls from the clouds?", "Rain and snow fall from the clouds."),
    ("When do we see the moon?", "We see the moon at night."), ("What do rabbits eat?", "Rabbits eat carrots and grass."),
    ("Where do fish live?", "Fish live in the water."), ("Where do birds sleep?", "Many birds sleep in nests in the trees."),
    ("What is two plus two?", "Two plus two is four."), ("What is one plus one?", "One plus one is two."),
    ("What is snow made of?", "Snow is made of tiny pieces of ice."), ("Is the sun hot?", "Yes, the sun is very hot."),
    ("Is ice cold?", "Yes, ice is very cold."), ("Who are you?", "I am a very small language model. I tell little stories about animals."),
    ("What can you do?", "I can tell you a short story. Name an animal and a thing, and I will begin."),
    ("How are you?", "I am fine, thank you. Would you like to hear a story?"),
    ("Hello", "Hello! Would you like to hear a story?"), ("Hello!", "Hello! Shall I tell you a story?"),
    ("Hi", "Hi there! Which animal should I tell you about?"), ("Good morning", "Good morning! It is a fine day for a story."),
    ("Thank you", "You are welcome. Come back soon for another story."), ("Thanks!", "You are welcome!"),
    ("Goodbye", "Goodbye, and sleep well."), ("Good night", "Good night. May you dream of friendly animals."),
]


def an(word):
    return ("an " if word[0] in "aeiou" else "a ") + word


def cap(text):
    return text[0].upper() + text[1:]


def character(rng, *others, kinds=KINDS):
    """A character whose kind and name differ from the others'."""
    pronoun = rng.choice(["she", "he"])
    kind = rng.choice([k for k in kinds if k not in [o["kind"] for o in others]])
    name = rng.choice([n for n in NAMES[pronoun] if n not in [o["name"] for o in others]])
    she, her, hers = FORMS[pronoun]
    return {"name": name, "kind": kind, "she": she, "her": her, "hers": hers, "adjective": rng.choice(ADJECTIVES)}


def meeting(rng, h, f):
    return rng.choice([
        f"On the way, {h['name']} met {an(f['adjective'])} {f['kind']} named {f['name']}.",
        f"Just then, {an(f['kind'])} named {f['name']} came along.",
        f"Soon {h['she']} saw {f['name']} the {f['kind']} sitting on a log.",
    ])


def plot_lost(rng, h, f, thing):
    first, second = rng.sample(PLACES, 2)
    return [
        rng.choice([f"One {rng.choice(WEATHER)} morning, {h['name']} could not find {h['hers']} {thing}.",
                    f"One day, {h['hers']} {thing} was gone."]),
        rng.choice([f'"Oh no! Where is my {thing}?" {h["she"]} cried.', f'"My {thing} is lost," {h["she"]} said with a tear.']),
        f"{cap(h['she'])} looked near {first}, but it was not there.",
        meeting(rng, h, f),
        rng.choice([f'"Do not worry," said {f["name"]}. "We will look for it together."',
                    f'"I can help you," said the {f["kind"]}. "Let us look once more."']),
        f"They walked to {second}, and {f['name']} looked behind a big stone.",
        rng.choice([f"There was the {thing}, safe and dry.", f"Under some leaves lay the {thing}!"]),
        f'"Thank you, {f["name"]}!" said {h["name"]}, and {h["she"]} hugged the {f["kind"]}.',
    ]


def plot_sharing(rng, h, f, thing):
    food = rng.choice(FOODS)
    return [
        f"One {rng.choice(WEATHER)} day, {h['name']} had a basket of {food}.",
        rng.choice([f"{cap(h['she'])} wanted to eat all of it alone.", f"{cap(h['she'])} sat down near {rng.choice(PLACES)} to eat."]),
        meeting(rng, h, f),
        f'"I am so hungry," said {f["name"]}. "I have not eaten since yesterday."',
        rng.choice([f"{h['name']} thought for a moment. Then {h['she']} gave half of the {food} to {f['name']}.",
                    f'"Then sit with me," said {h["name"]}, and they ate the {food} together.']),
        rng.choice([f"The next day, {f['name']} came back with {an(thing)}.", f"A week later, {f['name']} brought {an(thing)} as a present."]),
        f'"This is for you, because you were kind to me," said the {f["kind"]}.',
    ]


def plot_brave(rng, h, f, thing):
    place = rng.choice(PLACES)
    return [
        f"One evening, {h['name']} heard a strange sound from {place}.",
        rng.choice([f"{cap(h['hers'])} heart beat fast.", f"{cap(h['she'])} was afraid, and {h['hers']} knees shook."]),
        f'"I will go and see," {h["she"]} said, and {h["she"]} took {h["hers"]} {thing}.',
        rng.choice(["Step by step, it grew darker.", "The wind blew, and the leaves moved."]),
        f"But it was only {an(f['kind'])} named {f['name']}, who had lost {f['hers']} way.",
        f'"I am glad you came," said {f["name"]}. "I was afraid too."',
        f"{h['name']} showed {f['her']} the {thing}, and together they walked home.",
    ]


def plot_build(rng, h, f, thing):
    failure = rng.choice(["it broke in two", "it fell into the mud", "the wind blew it away", "it was far too big"])
    return [
        f"One {rng.choice(WEATHER)} morning, {h['name']} wanted to make {an(thing)}.",
        f"{cap(h['she'])} worked all day near {rng.choice(PLACES)}, but {failure}.",
        rng.choice([f'"I will never do it," {h["she"]} said.', f"{h['name']} sat down and sighed."]),
        meeting(rng, h, f),
        f'"Try again," said {f["name"]}. "I will hold it for you."',
        rng.choice(["They worked slowly and carefully.", "They tried a second time, and then a third time."]),
        f"In the end the {thing} was ready, and it was the best {thing} in the whole valley.",
    ]


def plot_friend(rng, h, f, thing):
    return [
        f"One day, a new neighbor came to live near {rng.choice(PLACES)}.",
        f"It was {f['name']}, {an(f['adjective'])} {f['kind']}.",
        rng.choice([f"{h['name']} was too shy to say hello.", f"At first, {h['name']} hid behind a tree."]),
        f"But then {h['she']} saw that {f['name']} sat all alone with {an(thing)}.",
        rng.choice([f'"Hello," said {h["name"]}. "May I play with you?"', f'"What a nice {thing}! May I see it?" asked {h["name"]}.']),
        f'"Yes, please!" said {f["name"]} with a big smile.',
        f"They played with the {thing} until the sun went down.",
    ]


def plot_gift(rng, h, f, thing):
    return [
        f"{cap(h['hers'])} best friend was {f['name']} the {f['kind']}.",
        f"Tomorrow was {f['name']}'s birthday, and {h['name']} had no gift.",
        f"{cap(h['she'])} went to {rng.choice(PLACES)}, but {h['she']} found only some {rng.choice(FOODS)}.",
        rng.choice([f"Then {h['she']} had an idea.", f"{h['name']} thought and thought."]),
        f"All night long, {h['she']} worked, and in the morning {an(thing)} was ready.",
        f'"For me?" asked {f["name"]}. "It is the most beautiful {thing} I have ever seen!"',
        rng.choice([f"{f['name']} was so happy that {f['she']} danced.", "They ate cake and laughed all day."]),
    ]


def plot_storm(rng, h, f, thing):
    return [
        "One night, a great storm came over the land.",
        rng.choice(["The rain fell and the thunder rolled.", "The wind pulled at the trees and the river rose."]),
        f"{h['name']} sat safe at home with {h['hers']} {thing}.",
        f"Then there was a knock at the door. It was {f['name']} the {f['kind']}, wet and cold.",
        rng.choice([f'"My house is full of water," said {f["name"]}.', f'"May I come in?" asked the {f["kind"]}.']),
        f'"Of course," said {h["name"]}, and {h["she"]} made {f["her"]} some {rng.choice(["tea", "warm soup", "hot milk"])}.',
        f"They told stories by the light of the fire until the storm was over.",
    ]


PLOTS = {"lost": plot_lost, "sharing": plot_sharing, "brave": plot_brave, "build": plot_build,
         "friend": plot_friend, "gift": plot_gift, "storm": plot_storm}


def write(rng, kinds=KINDS, things=THINGS):
    """A story of two animals of the kinds and one of the things."""
    h = character(rng, kinds=kinds)
    f = character(rng, h, kinds=kinds)
    return tell(rng, h, f, rng.choice(things))


def tell(rng, h, f, thing):
    """The story of the characters h and f with the thing, and what it is made of."""
    plot = rng.choice(list(PLOTS))
    home = rng.choice(HOMES)
    to_do, doing = rng.choice(HOBBIES)
    opening = rng.choice([
        f"Once upon a time, {an(h['adjective'])} {h['kind']} named {h['name']} lived {home}.",
        f"{cap(home)} lived {an(h['adjective'])} {h['kind']}. {cap(h['hers'])} name was {h['name']}.",
        f"There once was {an(h['kind'])} named {h['name']}, who lived {home}.",
        f"Long ago, {home}, there lived {an(h['adjective'])} {h['kind']} called {h['name']}.",
    ])
    habit = rng.choice([
        f"{h['name']} loved to {to_do}.", f"Every day {h['she']} liked to {to_do}.",
        f"{cap(h['she'])} was happy when {h['she']} was {doing}.", "",
    ])
    ending = rng.choice([
        f"From that day on, {h['name']} and {f['name']} were best friends.",
        f"That night, {h['name']} slept well and dreamed of {doing}.",
        f"{h['name']} smiled, because {h['she']} was not alone.",
        f"And so {h['name']} and {f['name']} lived happily side by side.",
    ])
    body = PLOTS[plot](rng, h, f, thing)
    moral = rng.choice(MORALS[plot])
    parts = [opening, habit, *body, ending]
    return {"hero": h, "friend": f, "thing": thing, "moral": moral, "home": home,
            "text": " ".join(p for p in parts if p) + (f" {moral}" if rng.random() < 0.7 else "")}


def request(rng, s):
    h, f, thing = s["hero"], s["friend"], s["thing"]
    return rng.choice([
        f"Tell me a story about {an(h['kind'])}.", f"Tell me a story about {an(h['kind'])} and {an(thing)}.",
        f"Write a story about {h['name']} the {h['kind']}.", f"Please tell me about {an(h['kind'])} named {h['name']}.",
        f"A story about {an(h['kind'])} and {an(f['kind'])}, please.", f"Can you tell me a story with {an(thing)} in it?",
        f"Write a short story about {an(h['adjective'])} {h['kind']}.", "Tell me a story.", "Tell me a story, please.",
        f"Tell me about {an(f['kind'])} and {an(h['kind'])}.", f"I want a story about {an(h['kind'])}.",
    ])


def follow_up(rng, s):
    h, f = s["hero"], s["friend"]
    return rng.choice([
        (f"What was the {h['kind']}'s name?", f"The {h['kind']}'s name was {h['name']}."),
        (f"What was the name of the {f['kind']}?", f"The name of the {f['kind']} was {f['name']}."),
        (f"Who was {f['name']}?", f"{f['name']} was {an(f['kind'])}."), (f"Who was {h['name']}?", f"{h['name']} was {an(h['kind'])}."),
        ("What can we learn from it?", s["moral"]), ("Where was that?", f"{h['name']} lived {s['home']}."),
        ("Thank you!", "You are welcome. Would you like to hear another story?"),
    ])


def document(rng):
    """[(role, text)]: a plain story, a conversation about one, or small talk."""
    die = rng.random()
    if die < 0.45:
        return [("text", write(rng)["text"])]
    if die < 0.9:
        s = write(rng)
        turns = [("user", request(rng, s)), ("assistant", s["text"])]
        if rng.random() < 0.4:
            question, answer = follow_up(rng, s)
            turns += [("user", question), ("assistant", answer)]
        return turns
    turns = []
    for question, answer in rng.sample(FACTS, rng.randint(1, 4)):
        turns += [("user", question), ("assistant", answer)]
    return turns
