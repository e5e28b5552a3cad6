// The options of the panel Run: tools, JSON, settings, the context.
export const options = {
  'A context of {n} token|A context of {n} tokens': 'Ein Kontext von {n} Token|Ein Kontext von {n} Token',
  'Leave out the oldest turns': 'Die ältesten Beiträge weglassen',
  'New conversation': 'Neue Unterhaltung',
  'With this message, the context is full: {tokens} of {room} tokens':
    'Mit dieser Nachricht ist der Kontext voll: {tokens} von {room} Token',
  'With this message, the context is almost full: {tokens} of {room} tokens':
    'Mit dieser Nachricht ist der Kontext fast voll: {tokens} von {room} Token',
  'An answer may need more room. Each of these but the last sends the message:':
    'Eine Antwort braucht vielleicht mehr Platz. Jeder dieser Wege außer dem letzten sendet die Nachricht:',
  'The chat template of this model knows no tools. A system message describes them instead, and the model may not follow it.':
    'Das Chat-Template dieses Modells kennt keine Werkzeuge. Stattdessen beschreibt eine Systemnachricht sie, und das Modell folgt ihr vielleicht nicht.',
  'So small a model is seldom trained to call functions: expect calls with wrong values, or none.':
    'Ein so kleines Modell ist selten darauf trainiert, Funktionen aufzurufen: Die Aufrufe haben oft falsche Werte oder bleiben aus.',
  'So small a model is seldom trained to write JSON: the answer matches the schema, but its values may make no sense.':
    'Ein so kleines Modell ist selten darauf trainiert, JSON zu schreiben: Die Antwort passt zum Schema, aber ihre Werte sind vielleicht sinnlos.',
  'This message takes {tokens} tokens, and the context has {room}':
    'Diese Nachricht braucht {tokens} Token, und der Kontext hat {room}',
  'Shorten the message': 'Nachricht kürzen',
  'The context is full: {tokens} of {room} tokens': 'Der Kontext ist voll: {tokens} von {room} Token',
  'The context is almost full: {tokens} of {room} tokens':
    'Der Kontext ist fast voll: {tokens} von {room} Token',
  'Answer in the room that is left': 'Im übrigen Platz antworten',
  '{title} must be from {min} to {max}.': '{title} muss zwischen {min} und {max} liegen.',
  'By WebGPU. The model is loaded again. What the card cannot run, the CPU runs':
    'Mit WebGPU. Das Modell wird neu geladen. Was die Karte nicht ausführen kann, führt die CPU aus',
  'On the graphics card, if there is one': 'Auf der Grafikkarte, wenn es eine gibt',
  '0: always the likeliest token': '0: immer das wahrscheinlichste Token',
  'A field without values is left out.': 'Ein Feld ohne Werte wird weggelassen.',
  'above 1: fewer repetitions': 'über 1: weniger Wiederholungen',
  'Add a field': 'Feld hinzufügen',
  'Add the fields that the answer must have.': 'Fügen Sie die Felder hinzu, die die Antwort haben soll.',
  'always the likeliest token: the same answer every time':
    'immer das wahrscheinlichste Token: jedes Mal dieselbe Antwort',
  automatic: 'automatisch',
  Balanced: 'Ausgewogen',
  Creative: 'Kreativ',
  'decides whether to call a function': 'entscheidet, ob es eine Funktion aufruft',
  'does not see the tools': 'sieht die Werkzeuge nicht',
  'Each field needs a name of its own. Others are left out.':
    'Jedes Feld braucht einen eigenen Namen. Andere werden weggelassen.',
  'Field {at}': 'Feld {at}',
  'Functions that the model may call, in OpenAI’s form. Nothing is run: you write the result of each call. A tool with a "result" beside its "function" answers by itself.':
    'Funktionen, die das Modell aufrufen darf, in der Form von OpenAI. Nichts wird ausgeführt: Sie schreiben das Ergebnis jedes Aufrufs. Ein Werkzeug mit "result" neben "function" antwortet von selbst.',
  'in tokens': 'in Token',
  'Insert an example': 'Beispiel einfügen',
  'JSON schema for the answer': 'JSON-Schema der Antwort',
  'List of such values': 'Liste solcher Werte',
  'Longest answer': 'Längste Antwort',
  'Min p': 'Min p',
  'more variety, more surprises': 'mehr Abwechslung, mehr Überraschungen',
  'Most characters': 'Höchstens Zeichen',
  'Most entries': 'Höchstens Einträge',
  'must call a function': 'muss eine Funktion aufrufen',
  none: 'leer',
  Number: 'Zahl',
  'One of a list': 'Eines aus einer Liste',
  'only the k likeliest; 0: all': 'nur die k wahrscheinlichsten; 0: alle',
  'only the likeliest that make up this share':
    'nur die wahrscheinlichsten, die zusammen diesen Anteil haben',
  'only those with at least this fraction of the first one’s probability':
    'nur solche mit mindestens diesem Anteil der Wahrscheinlichkeit des ersten',
  Precise: 'Genau',
  random: 'zufällig',
  Remove: 'Entfernen',
  'Remove field {at}': 'Feld {at} entfernen',
  'Repeat penalty': 'Wiederholungsstrafe',
  Required: 'Erforderlich',
  Seed: 'Seed',
  'some variety, seldom off the subject': 'etwas Abwechslung, selten vom Thema ab',
  'Style of the answers': 'Stil der Antworten',
  Temperature: 'Temperatur',
  'Text##type': 'Text',
  'The answer is a JSON object with these fields.': 'Die Antwort ist ein JSON-Objekt mit diesen Feldern.',
  'The model': 'Das Modell',
  'The same number gives the same answer again': 'Dieselbe Zahl ergibt wieder dieselbe Antwort',
  'The schema is not JSON: {error}': 'Das Schema ist kein JSON: {error}',
  'The tools are not JSON: {error}': 'Die Werkzeuge sind kein JSON: {error}',
  'This schema has parts that the form cannot show. Change it as text.':
    'Dieses Schema hat Teile, die das Formular nicht zeigen kann. Ändern Sie es als Text.',
  'Tokens that prompt and answer have together; the model is loaded again':
    'Token von Prompt und Antwort zusammen; das Modell wird neu geladen',
  'Tool {number} has no name.': 'Werkzeug {number} hat keinen Namen.',
  'Tools are a JSON array of functions.': 'Werkzeuge sind ein JSON-Array von Funktionen.',
  'Tools, as JSON': 'Werkzeuge, als JSON',
  'Top k': 'Top k',
  'Top p': 'Top p',
  'True or false': 'Wahr oder falsch',
  'Values, separated by commas': 'Werte, durch Kommas getrennt',
  'Whole number': 'Ganze Zahl',
  'Ten tabs then take the memory of one model. Not with a projector. The model is loaded again':
    'Zehn Tabs brauchen dann den Speicher eines Modells. Nicht mit einem Projektor. Das Modell wird neu geladen',
  'Share one loaded model among the tabs with this file':
    'Die Tabs mit dieser Datei teilen sich ein geladenes Modell',
}
