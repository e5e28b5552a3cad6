// The panel Tokenizer: how texts are cut into tokens, and what some tokens are for.
export const tokens = {
  'a hidden word': 'ein verdecktes Wort',
  'a repository’s name': 'Name eines Repositorys',
  'A text is cut at words, numbers and signs. In each part, frequent neighbours are joined to tokens.':
    'Ein Text wird an Wörtern, Zahlen und Zeichen zerlegt. In jedem Teil werden häufige Nachbarn zu Token verbunden.',
  'A text is cut into the tokens that are most probable together.':
    'Ein Text wird in die Token zerlegt, die zusammen am wahrscheinlichsten sind.',
  'A text is cut into the tokens whose scores have the best sum.':
    'Ein Text wird in die Token zerlegt, deren Bewertungen die beste Summe haben.',
  'after a gap': 'nach einer Lücke',
  'At each place, the longest token that fits is taken.':
    'An jeder Stelle wird das längste passende Token genommen.',
  'before a gap': 'vor einer Lücke',
  'between files': 'zwischen Dateien',
  'between two texts': 'zwischen zwei Texten',
  'Cuts texts like': 'Zerlegt Texte wie',
  'Each word is cut into the longest tokens with which it begins and continues.':
    'Jedes Wort wird in die längsten Token zerlegt, mit denen es beginnt und weitergeht.',
  'end of a message': 'Ende einer Nachricht',
  'end of a text': 'Ende eines Textes',
  'end of a turn': 'Ende eines Beitrags',
  filler: 'Füllung',
  'filler at a gap': 'Füllung an einer Lücke',
  'in a gap': 'in einer Lücke',
  Method: 'Verfahren',
  'Neighbours are joined to tokens, those with the best score first.':
    'Nachbarn werden zu Token verbunden, die mit der besten Bewertung zuerst.',
  'start of a text': 'Anfang eines Textes',
  'The model knows {n} token.|The model knows {n} tokens.':
    'Das Modell kennt {n} Token.|Das Modell kennt {n} Token.',
  unknown: 'unbekannt',
  'Take another file': 'Andere Datei nehmen',
  '{text} in {n} token|{text} in {n} tokens': '{text} in {n} Token|{text} in {n} Token',
  'There are more tokens than characters: a character that the vocabulary lacks becomes several tokens, of its bytes.':
    'Es sind mehr Token als Zeichen: Ein Zeichen, das im Vokabular fehlt, wird zu mehreren Token aus seinen Bytes.',
  'The template ignores the tools.': 'Das Template übergeht die Werkzeuge.',
  'This file has no chat template: Run continues texts with it, and answers no messages. Edit can add a template.':
    'Diese Datei hat kein Chat-Template: Ausführen setzt mit ihr Texte fort und beantwortet keine Nachrichten. Bearbeiten kann ein Template hinzufügen.',
  'There is no panel “{name}”. This is {panel}.': 'Es gibt keinen Bereich „{name}“. Das ist {panel}.',
  '{panel} is not for this file: it has nothing that could be shown there.':
    '{panel} passt nicht zu dieser Datei: Sie hat nichts, was dort zu zeigen wäre.',
}
