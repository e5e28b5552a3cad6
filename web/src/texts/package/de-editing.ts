// What the package says, in German: errors of editing files. The English text is the key; see de.ts.
export default {
  'The messages must be an array.': 'Die Nachrichten müssen ein Array sein.',
  'Message {} is not an object with a role.': 'Nachricht {0} ist kein Objekt mit einer Rolle.',
  'The content of message {} is no string or array of parts.':
    'Der Inhalt von Nachricht {0} ist kein Text und kein Array von Teilen.',
  'The chat template does not support documents.': 'Das Chat-Template unterstützt keine Dokumente.',
  '{~} holds a part of type {} whose text is no string.':
    '{0} hat einen Teil vom Typ {1}, dessen Text kein Text ist.',
  '{~} holds a part that is no text and has no type.':
    '{0} hat einen Teil, der kein Text ist und keinen Typ hat.',
  '{~} holds a part of type {}, which is not known.':
    '{0} hat einen Teil vom Typ {1}, der nicht bekannt ist.',
  '{~} holds an {} part, and the chat template has no place for one.':
    '{0} hat einen {1}-Teil, für den das Chat-Template keinen Platz hat.',
  '{~} holds a {} part, and the chat template has no place for one.':
    '{0} hat einen {1}-Teil, für den das Chat-Template keinen Platz hat.',
  'The chat template leaves out all messages: the option template may name a known format, such as "chatml".':
    'Das Chat-Template lässt alle Nachrichten weg: Die Option template kann ein bekanntes Format nennen, etwa "chatml".',
  "Tools cannot be combined with a schema for this model's replies, whose parts have headers: leave one out.":
    'Werkzeuge und ein Schema lassen sich für die Antworten dieses Modells, deren Teile Köpfe haben, nicht verbinden: Lassen Sie eines weg.',
  'Result of {}:': 'Ergebnis von {0}:',
  'tools[{}] is of type {}: only functions are known.':
    'tools[{0}] hat den Typ {1}: Bekannt sind nur Funktionen.',
  'tools[{}] needs a function.name of up to 64 letters, digits, _, - and dots.':
    'tools[{0}] braucht ein function.name aus höchstens 64 Buchstaben, Ziffern, _, - und Punkten.',
  'Two tools have the name {}.': 'Zwei Werkzeuge haben den Namen {0}.',
  'The parameters of tools[{}] must be a JSON schema.':
    'Die Parameter von tools[{0}] müssen ein JSON-Schema sein.',
  'tool_choice names {}, and no tool has that name.': 'tool_choice nennt {0}, und kein Werkzeug heißt so.',
  'The choice of tools is {}: it is "auto", "none", "required" or { type: "function", function: { name } }.':
    'Die Wahl der Werkzeuge ist {0}: Möglich sind "auto", "none", "required" oder { type: "function", function: { name } }.',
  'The choice of tools asks for a call, and there are no tools.':
    'Die Wahl der Werkzeuge verlangt einen Aufruf, und es gibt keine Werkzeuge.',
  'Tools cannot be combined with a grammar: leave one out.':
    'Werkzeuge und eine Grammatik lassen sich nicht verbinden: Lassen Sie eine weg.',
  'The model could not evaluate the decision.': 'Das Modell konnte die Entscheidung nicht auswerten.',
  'This decision model has no head that scores three types of questions.':
    'Dieses Entscheidungsmodell hat keinen Kopf, der drei Arten von Fragen bewertet.',
  "This file's key decision.{} is {}: it must be above 0.":
    'Der Schlüssel decision.{0} dieser Datei ist {1}: Er muss über 0 liegen.',
  "This file's key decision.{} is {}, which cannot be used.":
    'Der Schlüssel decision.{0} dieser Datei ist {1}, was nicht verwendbar ist.',
  "This file's keys decision.score_bias.{}.* lack a level.":
    'Den Schlüsseln decision.score_bias.{0}.* dieser Datei fehlt eine Stufe.',
  'This model is not a decision model: it has no key {}.decision.type.':
    'Dieses Modell ist kein Entscheidungsmodell: Es hat keinen Schlüssel {0}.decision.type.',
  'The decision type {} is unknown; known: {~}.': 'Der Entscheidungstyp {0} ist unbekannt; bekannt: {1}.',
  'This decision model has no chat template named "systemone".':
    'Dieses Entscheidungsmodell hat kein Chat-Template namens "systemone".',
  'This decision model has no valid key decision.max_head_tokens.':
    'Dieses Entscheidungsmodell hat keinen gültigen Schlüssel decision.max_head_tokens.',
  'The decision label {} is not a single token of this model.':
    'Die Bezeichnung {0} ist kein einzelnes Token dieses Modells.',
  'The decision label of {} is not a single token of this model.':
    'Die Bezeichnung von {0} ist kein einzelnes Token dieses Modells.',
  'The prompt that the model\'s template "systemone" writes has an unexpected layout.':
    'Der Prompt, den das Template "systemone" des Modells schreibt, ist unerwartet aufgebaut.',
  "This decision model's vocabulary has no {} token.":
    'Das Vokabular dieses Entscheidungsmodells hat kein Token {0}.',
  'The file is a control vector, not a LoRA adapter.': 'Die Datei ist ein Steuervektor, kein LoRA-Adapter.',
  "The file is not an adapter: general.type is {}, not 'adapter'.":
    "Die Datei ist kein Adapter: general.type ist {0}, nicht 'adapter'.",
  "adapter.type is {}, not 'lora'.": "adapter.type ist {0}, nicht 'lora'.",
  'The adapter is for the architecture {}, the model is of {}.':
    'Der Adapter ist für die Architektur {0}, das Modell ist von {1}.',
  '{} is empty.': '{0} ist leer.',
  '{} must be an array of u32.': '{0} muss ein Array von u32 sein.',
  'Tensor {} is neither a .lora_a nor a .lora_b.': 'Tensor {0} ist weder ein .lora_a noch ein .lora_b.',
  'Tensor {} is in the file twice.': 'Tensor {0} ist zweimal in der Datei.',
  '{} has no .lora_b.': '{0} hat kein .lora_b.',
  '{} has no .lora_a.': '{0} hat kein .lora_a.',
  'The adapter changes {}, which the model does not have.':
    'Der Adapter ändert {0}, was das Modell nicht hat.',
  "The adapter's {} has {~}: {~}.": '{0} des Adapters hat {1}: {2}.',
  "The adapter changes token_embd.weight, which is this model's output, too.":
    'Der Adapter ändert token_embd.weight, das auch die Ausgabe dieses Modells ist.',
  'The data of tensor {} are floats, bytes, a Blob or a ByteSource, not {~}.':
    'Die Daten von Tensor {0} sind Fließkommazahlen, Byte, ein Blob oder eine ByteSource, nicht {1}.',
  'There is no key {} in that file.': 'In jener Datei gibt es keinen Schlüssel {0}.',
  'There is a key {} already.': 'Es gibt schon einen Schlüssel {0}.',
  '{} is {}, and {} holds another type: set {} and remove the other.':
    '{0} ist {1}, und {2} hat einen anderen Typ: Setzen Sie {3} und entfernen Sie den anderen.',
  'Tensor {}: [{~}] is not a shape.': 'Tensor {0}: [{1}] ist keine Form.',
  'Version {} cannot be written: 2 or 3.': 'Version {0} kann nicht geschrieben werden: nur 2 oder 3.',
  'One file of a split model cannot get another vocabulary: edit all files together.':
    'Eine Datei eines geteilten Modells kann kein anderes Vokabular bekommen: Bearbeiten Sie alle Dateien zusammen.',
  'There is no key {}.': 'Es gibt keinen Schlüssel {0}.',
  'There is no tensor {}.': 'Es gibt keinen Tensor {0}.',
  "A tensor's name must be a string, not {}.": 'Der Name eines Tensors muss ein Text sein, nicht {0}.',
  '{} is not a name of a tensor: 1 to {} bytes.': '{0} ist kein Name eines Tensors: 1 bis {1} Byte.',
  'There is a tensor {} already.': 'Es gibt schon einen Tensor {0}.',
  'A key must be a string, not {}.': 'Ein Schlüssel muss ein Text sein, nicht {0}.',
  '{} is no key: it has a space.': '{0} ist kein Schlüssel: Es hat ein Leerzeichen.',
  '{} is no key: {} is not visible ASCII.': '{0} ist kein Schlüssel: {1} ist kein sichtbares ASCII-Zeichen.',
  '{} is no key: it has 1 to {} characters.': '{0} ist kein Schlüssel: Er hat 1 bis {1} Zeichen.',
  'There is no shard {}: the model has {}, from 0.': 'Es gibt keinen Teil {0}: Das Modell hat {1}, ab 0.',
  'The first file of this model is not there, or is not the one to edit (shard {}, from 0).':
    'Die erste Datei dieses Modells ist nicht da oder nicht die, die bearbeitet werden soll (Teil {0}, ab 0).',
  'There is no type "{}": u8, i32, f32, bool, string, ... or u8[], i32[], ...':
    'Es gibt keinen Typ "{0}": u8, i32, f32, bool, string, ... oder u8[], i32[], ...',
  'An array of strings is no array of numbers.': 'Ein Array von Texten ist kein Array von Zahlen.',
  '{} is no array, so that it has no entries to change.':
    '{0} ist kein Array, hat also keine Einträge zum Ändern.',
  '{} is an array of arrays. Set the whole value.':
    '{0} ist ein Array von Arrays. Setzen Sie den ganzen Wert.',
  '{} has no entry {}: it has {}, from 0.': '{0} hat keinen Eintrag {1}: Es hat {2}, ab 0.',
  '{}[{}]: {} is no string.': '{0}[{1}]: {2} ist kein Text.',
  'The list of changes is not JSON.': 'Die Liste der Änderungen ist kein JSON.',
  'That is not a list of changes: its format is not "{}".':
    'Das ist keine Liste von Änderungen: Ihr Format ist nicht "{0}".',
  'The list of changes has version {}. This program reads version 1.':
    'Die Liste der Änderungen hat Version {0}. Dieses Programm liest Version 1.',
  'Change {~} of the list is unknown to this program.': 'Änderung {0} der Liste kennt dieses Programm nicht.',
  'There is no tensor "{}" in this file.': 'In dieser Datei gibt es keinen Tensor "{0}".',
  'A tensor of the name __metadata__ has no place in safetensors.':
    'Ein Tensor mit dem Namen __metadata__ hat in safetensors keinen Platz.',
  'safetensors holds a name once: there are two tensors of the name {}.':
    'safetensors hat jeden Namen einmal: Es gibt zwei Tensoren mit dem Namen {0}.',
  'The importance matrix cannot be used: value {} for {} is {}.':
    'Die Wichtigkeitsmatrix ist nicht verwendbar: Wert {0} für {1} ist {2}.',
  'The importance matrix cannot be used: {} has {} sums, and {} counts belong to them.':
    'Die Wichtigkeitsmatrix ist nicht verwendbar: {0} hat {1} Summen, und {2} Anzahlen gehören dazu.',
  'This is no importance matrix: the GGUF file ({~}) has no tensor whose name ends in .in_sum2.':
    'Dies ist keine Wichtigkeitsmatrix: Die GGUF-Datei ({0}) hat keinen Tensor, dessen Name auf .in_sum2 endet.',
  'importance is an open file of this package or a Map of columns.':
    'importance ist eine offene Datei dieses Pakets oder eine Map von Spalten.',
  'The importance matrix has no entries.': 'Die Wichtigkeitsmatrix hat keine Einträge.',
  'The imatrix ends at byte {}, within an entry.': 'Die imatrix endet bei Byte {0}, mitten in einem Eintrag.',
  'This is no imatrix: it would have {~}.': 'Dies ist keine imatrix: Sie hätte {0}.',
  '{} is {}, not an array. A type given with it overrides this.':
    '{0} ist {1}, kein Array. Ein mitgegebener Typ setzt sich darüber hinweg.',
  '{} is {}, not a single value. A type given with it overrides this.':
    '{0} ist {1}, kein einzelner Wert. Ein mitgegebener Typ setzt sich darüber hinweg.',
  'The size of tensor {} is unknown, since its type {} and the size of the file are not known.':
    'Die Größe von Tensor {0} ist unbekannt, da sein Typ {1} und die Größe der Datei nicht bekannt sind.',
  'Tensor {}: there is no type {}.': 'Tensor {0}: Es gibt keinen Typ {1}.',
  'Tensor {} needs {} of {}, not {}.': 'Tensor {0} braucht {1} von {2}, nicht {3}.',
  'Rows of {} are no whole blocks of {}: tensor {} cannot be {~}.':
    'Zeilen von {0} sind keine ganzen Blöcke von {1}: Tensor {2} kann nicht {3} sein.',
  'Tensor {} cannot become {} without importance.': 'Tensor {0} kann ohne Wichtigkeiten nicht zu {1} werden.',
  'Tensor {} has {}, its importance {}.': 'Tensor {0} hat {1}, seine Wichtigkeiten {2}.',
  'The file cannot be written: {~}.': 'Die Datei kann nicht geschrieben werden: {0}.',
  'general.alignment must be a power of two, not {}: llama.cpp refuses other files.':
    'general.alignment muss eine Zweierpotenz sein, nicht {0}: llama.cpp lehnt andere Dateien ab.',
  'Tensor {} has super-blocks of 64, {} would have 256: no file has both. Another type for one of them will do.':
    'Tensor {0} hat Superblöcke von 64, {1} hätte 256: Keine Datei hat beides. Ein anderer Typ für einen von beiden genügt.',
  "An adapter's scale must be a finite number, not {}.":
    'Die Stärke eines Adapters muss eine endliche Zahl sein, nicht {0}.',
  'An activated adapter cannot be merged, because it has no effect before its invocation tokens.':
    'Ein Adapter, der erst aktiviert wird, kann nicht verschmolzen werden, weil er vor seinen Auslöse-Token nicht wirkt.',
  'Tensor {}: type {} cannot be dequantized.': 'Tensor {0}: Typ {1} kann nicht dequantisiert werden.',
  'That is no open file of this package.': 'Das ist keine offene Datei dieses Pakets.',
  'There is no type {}, which {} is to get.': 'Es gibt keinen Typ {0}, den {1} bekommen soll.',
  'No tensor\'s name matches "{}", which is to get {}.':
    'Kein Tensorname passt zu "{0}", das {1} bekommen soll.',
  'Tensor {} cannot be {}: its rows of {} are no whole blocks of {}, {}. Give it another type ("{}=F16"), or take another mixture.':
    'Tensor {0} kann nicht {1} sein: Seine Zeilen von {2} sind keine ganzen Blöcke von {3}, {4}. Geben Sie ihm einen anderen Typ ("{5}=F16"), oder nehmen Sie eine andere Mischung.',
  'Tensor {}: there is no quantizer of type {}.': 'Tensor {0}: Es gibt keinen Quantisierer für den Typ {1}.',
  'The importance matrix has {} for {}, which has {}: it is of another model.':
    'Die Wichtigkeitsmatrix hat {0} für {1}, das {2} hat: Sie gehört zu einem anderen Modell.',
  'There is no mixture {}: it is one of {~}.': 'Es gibt keine Mischung {0}, nur: {1}.',
  'The importance matrix is of another model: none of its {~} ({~}) is a tensor of this one.':
    'Die Wichtigkeitsmatrix gehört zu einem anderen Modell: Keiner ihrer {0} ({1}) ist ein Tensor von diesem.',
  'Tensor {} is quantized already ({}): as {} it would have the errors of both ({~}). Take the original, or allow it (allowRequantize; --allow-requantize).':
    'Tensor {0} ist schon quantisiert ({1}): Als {2} hätte er die Fehler beider ({3}). Nehmen Sie das Original, oder erlauben Sie es (allowRequantize; --allow-requantize).',
  'the importance matrix has no entry for it: was it made of this model?':
    'Die Wichtigkeitsmatrix hat keinen Eintrag dafür: Stammt sie von diesem Modell?',
  "give a file of llama.cpp's imatrix (importance; --imatrix).":
    'Geben Sie eine Datei von llama.cpps imatrix an (importance; --imatrix).',
  '{} is no limit for a file: at least 1.': '{0} ist keine Grenze für eine Datei: mindestens 1.',
  'Tensor {} has an old layout or byte order: convert the file first.':
    'Tensor {0} hat ein altes Layout oder eine alte Bytereihenfolge: Konvertieren Sie die Datei zuerst.',
  'Tensor {}: no mean of rows of {} can be computed. Add the tokens with rows of zeros.':
    'Tensor {0}: Aus Zeilen von {1} lässt sich kein Mittel berechnen. Fügen Sie die Token mit Nullzeilen hinzu.',
  'Tensor {} has {} for {}.': 'Tensor {0} hat {1} für {2}.',
  'Tensor {} of type {} cannot get other rows.': 'Tensor {0} vom Typ {1} kann keine anderen Zeilen bekommen.',
  'Tensor {} of {} cannot be quantized: {~}.': 'Tensor {0} von {1} kann nicht quantisiert werden: {2}.',
  'Tensor {} cannot be {}: {~} is {}, {~}.': 'Tensor {0} kann nicht {1} sein: {2} ist {3}, {4}.',
  'The vocabulary of a big-endian file or of GGUF version 1 cannot be changed: convert the file first.':
    'Das Vokabular einer Big-Endian-Datei oder von GGUF Version 1 kann nicht geändert werden: Konvertieren Sie die Datei zuerst.',
  '{} is no array of strings or numbers.': '{0} ist kein Array von Texten oder Zahlen.',
  'The file has no vocabulary ({~}).': 'Die Datei hat kein Vokabular ({0}).',
  '{} has {} for {}. Change that first.': '{0} hat {1} für {2}. Ändern Sie das zuerst.',
  'A token needs a text.': 'Ein Token braucht einen Text.',
  'Token {}: there is no type "{}": {~}.': 'Token {0}: Es gibt keinen Typ "{1}": {2}.',
  'Token {}: a byte token is written as <0x0A>.': 'Token {0}: Ein Byte-Token schreibt man <0x0A>.',
  'Token {}: normal tokens of this vocabulary are found only by merges. Take user-defined or control.':
    'Token {0}: Normale Token dieses Vokabulars werden nur durch Merges gefunden. Nehmen Sie user-defined oder control.',
  'Token {}: {} is no score.': 'Token {0}: {1} ist keine Wertung.',
  'There is a token {} already.': 'Es gibt schon ein Token {0}.',
  'Token {}: the tokens of this vocabulary have no scores.':
    'Token {0}: Die Token dieses Vokabulars haben keine Wertungen.',
  'The token {} has the ids {~}. Name one of them.':
    'Das Token {0} hat die Nummern {1}. Nennen Sie eine davon.',
  'There is no token {}.': 'Es gibt kein Token {0}.',
  'There is no token {}: there are {}, from 0.': 'Es gibt kein Token {0}: Es gibt {1}, ab 0.',
  'Token {} ({}) is in use as {}. Set that key to another token, or remove it, first.':
    'Token {0} ({1}) wird als {2} verwendet. Setzen Sie diesen Schlüssel zuerst auf ein anderes Token, oder entfernen Sie ihn.',
  '{} cannot be written: {~}.': '{0} kann nicht geschrieben werden: {1}.',
  '{} cannot be written: its links lead in a circle.':
    '{0} kann nicht geschrieben werden: Seine Verknüpfungen führen im Kreis.',
  '{} is there already.': '{0} gibt es schon.',
  '{} is no regular file: give another output.':
    '{0} ist keine gewöhnliche Datei: Geben Sie ein anderes Ziel an.',
  '{} of {~} were there.': '{0} von {1} waren da.',
  'There is no memory for {}: take stream() or blob().':
    'Für {0} ist kein Speicher da: Nehmen Sie stream() oder blob().',
  'Message {}': 'Nachricht {0}',
  '{} are more than a model can have: {}.': '{0} sind mehr, als ein Modell haben kann: {1}.',
  'A commit sends a new header only, but this change also changes tensor data: write a new file, and upload it.':
    'Ein Commit sendet nur einen neuen Kopf, aber diese Änderung ändert auch Tensordaten: Schreiben Sie eine neue Datei, und laden Sie sie hoch.',
  'Files of split models cannot be committed: edit a copy, and upload it.':
    'Dateien geteilter Modelle lassen sich nicht committen: Bearbeiten Sie eine Kopie, und laden Sie sie hoch.',
  'The hub could not be reached.': 'Der Hub war nicht zu erreichen.',
  'The hub: {}.': 'Der Hub: {0}.',
  'The hub answers {}: {}.': 'Der Hub antwortet {0}: {1}.',
  '{} has another size than when its header was read.': '{0} hat eine andere Größe als beim Lesen des Kopfs.',
  '{} on the hub is another file now: open it again.':
    '{0} ist auf dem Hub jetzt eine andere Datei: Öffnen Sie sie noch einmal.',
  '{} names no file on Hugging Face.': '{0} nennt keine Datei auf Hugging Face.',
  'This repository takes whole files only, which a page cannot send: use the command line.':
    'Dieses Repository nimmt nur ganze Dateien, die eine Seite nicht senden kann: Nehmen Sie die Kommandozeile.',
  'the byte order of type {} cannot be changed':
    'Die Bytereihenfolge des Typs {0} kann nicht geändert werden',
  'there is no quantizer of type {}': 'Es gibt keinen Quantisierer für den Typ {0}',
  '{}: {~}.': '{0}: {1}.',
  'a value of GGUF is a number, text, a boolean or an array of these, not {}':
    'Ein Wert von GGUF ist eine Zahl, ein Text, ein Wahrheitswert oder ein Array davon, nicht {0}',
  'a {} is no array that GGUF knows': '{0} ist kein Array, das GGUF kennt',
  'an empty array has no type: give one': 'Ein leeres Array hat keinen Typ: Geben Sie einen an',
  'the elements of an array are of one type, not {}':
    'Die Elemente eines Arrays sind von einem Typ, nicht {0}',
  '{} is no {}': '{0} ist kein {1}',
  '{} is no array': '{0} ist kein Array',
  '{} is no string': '{0} ist kein Text',
  'an array is no {}': 'Ein Array ist kein {0}',
  'there is no value type {}': 'Es gibt keinen Werttyp {0}',
}
