// What the package says, in German: faults of headers and of lint. The English text is the key; see de.ts.
export default {
  '{~} at byte {} in {~}': '{0} bei Byte {1} in {2}',
  'magic and version': 'Kennung und Version',
  'unknown version {}': 'unbekannte Version {0}',
  'a container before GGUF': 'einem Container aus der Zeit vor GGUF',
  'a GGML file of an unknown kind': 'eine GGML-Datei unbekannter Art',
  'impossible count': 'unmögliche Anzahl',
  'vocabulary size': 'Größe des Vokabulars',
  'impossible count {}': 'unmögliche Anzahl {0}',
  'a length over 64 KiB': 'eine Länge über 64 KiB',
  'more than 2^16 tensors': 'mehr als 2^16 Tensoren',
  'more than 4 dimensions': 'mehr als 4 Dimensionen',
  'a name over 4 KiB': 'ein Name über 4 KiB',
  'unknown type {}': 'unbekannter Typ {0}',
  'an impossible dimension': 'eine unmögliche Dimension',
  'a row that is not whole blocks': 'eine Zeile, die keine ganzen Blöcke hat',
  'the data of {~}': 'den Daten von {0}',
  'truncated (at least {} more bytes expected)': 'abgeschnitten (mindestens {0} weitere Byte erwartet)',
  'a length over 1 GiB': 'eine Länge über 1 GiB',
  'unknown value type {}': 'unbekannter Werttyp {0}',
  'the file is empty: truncated': 'Die Datei ist leer: abgeschnitten',
  'tensor count': 'Anzahl der Tensoren',
  'key-value count': 'Anzahl der Schlüssel',
  'declared key-values and tensors': 'den angekündigten Schlüsseln und Tensoren',
  'value type of key {}': 'Werttyp von Schlüssel {0}',
  'value of key {}': 'Wert von Schlüssel {0}',
  'array of key {}': 'Array von Schlüssel {0}',
  'nested array of key {}': 'verschachteltem Array von Schlüssel {0}',
  'string array of key {}': 'Text-Array von Schlüssel {0}',
  'dimension count of tensor {}': 'Dimensionszahl von Tensor {0}',
  'shape of tensor {}': 'Form von Tensor {0}',
  'type of tensor {}': 'Typ von Tensor {0}',
  'offset of tensor {}': 'Position von Tensor {0}',
  'tensor name {}': 'Tensorname {0}',
  'key {}': 'Schlüssel {0}',
  truncated: 'abgeschnitten',
  'arrays nested too deep': 'zu tief verschachtelte Arrays',
  'length past 2^63': 'Länge über 2^63',
  'tensor {}': 'Tensor {0}',
  header: 'Kopf',
  'header of an adapter': 'Kopf eines Adapters',
  'header of the projector': 'Kopf des Projektors',
  'saved state': 'gespeichertem Zustand',
  'a shape past 2^63 elements or bytes': 'eine Form über 2^63 Elementen oder Byte',
  'an offset past 2^63': 'eine Position über 2^63',
  'this is a model container from before GGUF': 'Dies ist ein Modell-Container aus der Zeit vor GGUF',
  'this is a compressed file or an archive, not GGUF: unpack it first':
    'Dies ist eine komprimierte Datei oder ein Archiv, kein GGUF: Entpacken Sie es zuerst',
  'this is an HTML or XML page, not GGUF: the address shows a page (an error or a login, perhaps) instead of the file':
    'Dies ist eine HTML- oder XML-Seite, kein GGUF: Die Adresse zeigt statt der Datei eine Seite (vielleicht einen Fehler oder eine Anmeldung)',
  'bad magic at byte 0: {~}': 'Falsche Kennung bei Byte 0: {0}',
  "this is a JSON document, not GGUF: it may be a server's error message":
    'Dies ist ein JSON-Dokument, kein GGUF: vielleicht die Fehlermeldung eines Servers',
  'a GGUF file begins with the letters GGUF': 'Eine GGUF-Datei beginnt mit den Buchstaben GGUF',
  'cannot write version {}: 2 or 3': 'Version {0} kann nicht geschrieben werden: nur 2 oder 3',
  'general.alignment must be a u32 from 1 to 2^24': 'general.alignment muss ein u32 von 1 bis 2^24 sein',
  'the bytes of {} are not what its type says': 'Die Byte von {0} sind nicht das, was sein Typ sagt',
  'tensor {} has too many dimensions': 'Tensor {0} hat zu viele Dimensionen',
  'tensor {} would end past 2^63': 'Tensor {0} würde nach 2^63 enden',
  'an array of {}': 'ein Array von {0}',
  '{} is {~}, not {~}': '{0} ist {1}, nicht {2}',
  'rope.scale_linear is deprecated: rope.scaling.type and .factor say it today':
    'rope.scale_linear ist veraltet: Heute sagen es rope.scaling.type und .factor',
  '{#tensor}, {} first: ggml takes names of 63 bytes and 4 dimensions':
    '{0#Tensor/Tensoren}, zuerst {1}: ggml nimmt Namen von 63 Byte und 4 Dimensionen',
  '{} ({}), which {~} has, and nothing here can read':
    '{0} ({1}), den {2} hat und den hier nichts lesen kann',
  '{}, which ggml does not know': '{0}, den ggml nicht kennt',
  '{}, which was removed from ggml': '{0}, der aus ggml entfernt wurde',
  '{}, with which llama.cpp cannot compute there': '{0}, mit dem llama.cpp dort nicht rechnen kann',
  'tensor {} is of type {~}': 'Tensor {0} hat den Typ {1}',
  'tensor {} and {} more are of type {~}': 'Tensor {0} und {1} weitere haben den Typ {2}',
  '{} is an array of {}: llama.cpp reads an array of {}':
    '{0} ist ein Array von {1}: llama.cpp liest ein Array von {2}',
  '{} is an array of {}: llama.cpp reads {}': '{0} ist ein Array von {1}: llama.cpp liest {2}',
  '{} is {}: llama.cpp reads an array of {}': '{0} ist {1}: llama.cpp liest ein Array von {2}',
  '{} is {}: llama.cpp reads {}': '{0} ist {1}: llama.cpp liest {2}',
  'file type {} was removed from llama.cpp': 'Der Dateityp {0} wurde aus llama.cpp entfernt',
  'file type {} is unknown': 'Der Dateityp {0} ist unbekannt',
  'file type {} is of ggml 1.0: {}': 'Der Dateityp {0} ist aus ggml 1.0: {1}',
  'general.file_type says {}, but there are quantized tensors':
    'general.file_type sagt {0}, aber es gibt quantisierte Tensoren',
  'general.file_type says {}, but no tensor is {}': 'general.file_type sagt {0}, aber kein Tensor ist {1}',
  '{} is {}: llama.cpp takes {} to {}': '{0} ist {1}: llama.cpp nimmt {2} bis {3}',
  '{} has {#element}, not {}': '{0} hat {1#Element/Elemente}, nicht {2}',
  '{} has fewer than three elements: one each for red, green and blue':
    '{0} hat weniger als drei Elemente: je eines für Rot, Grün und Blau',
  '{} is below image_min_pixels': '{0} liegt unter image_min_pixels',
  '{} has an odd count of elements: they are widths and heights':
    '{0} hat eine ungerade Anzahl von Elementen: Es sind Breiten und Höhen',
  '{} names a block beyond the last one': '{0} nennt einen Block nach dem letzten',
  'tensor {} has {} in dimension {}: llama.cpp wants {}; so it is in {#more tensor}':
    'Tensor {0} hat {1} in Dimension {2}: llama.cpp will {3}; so auch in {4#weiterem Tensor/weiteren Tensoren}',
  'tensor {} has {} in dimension {}: llama.cpp wants {}':
    'Tensor {0} hat {1} in Dimension {2}: llama.cpp will {3}',
  '{} and tokenizer.ggml.token_type have {#element} for {#token}':
    '{0} und tokenizer.ggml.token_type haben {1#Element/Elemente} für {2#Token/Token}',
  '{} has {#element} for {#token}': '{0} hat {1#Element/Elemente} für {2#Token/Token}',
  'llama.cpp requires tensor {}': 'llama.cpp verlangt den Tensor {0}',
  'llama.cpp requires {}': 'llama.cpp verlangt {0}',
  '{} is of no tensor of the file': '{0} gehört zu keinem Tensor der Datei',
  '{} has another count of elements than its tensor':
    '{0} hat eine andere Zahl von Elementen als sein Tensor',
  '{} is no array of i32, each above 0': '{0} ist kein Array von i32, jeder über 0',
  'the vocabulary lacks tokens of bytes ({} of {}), {} first: llama.cpp aborts at a text that needs one':
    'Dem Vokabular fehlen Token für Bytes ({0} von {1}), zuerst {2}: llama.cpp bricht bei einem Text ab, der eines braucht',
  '{} is no key that readers know: {} was probably meant':
    '{0} ist kein Schlüssel, den Programme kennen: Gemeint war wohl {1}',
  '{} is no key that readers know: {} was probably meant, which is there too':
    '{0} ist kein Schlüssel, den Programme kennen: Gemeint war wohl {1}, den es auch gibt',
  'the file {} of this split model is not there': 'Die Datei {0} dieses geteilten Modells fehlt',
  'The input is damaged: {~}. {~}': 'Die Eingabe ist beschädigt: {0}. {1}',
  '{~} (and {} more: lint lists them)': '{0} (und {1} weitere: lint nennt sie)',
  '{} is shard {}, but its {} is {~}, not {}': '{0} ist Teil {1}, aber {2} darin ist {3}, nicht {4}',
  '{} is of {#shard}, but its {} is {~}, not {}':
    '{0} gehört zu {1#Teil/Teilen}, aber {2} darin ist {3}, nicht {4}',
  '{} is of a set of {#tensor}, but its {} is {~}, not {}':
    '{0} gehört zu einem Modell mit {1#Tensor/Tensoren}, aber {2} darin ist {3}, nicht {4}',
  'tensor {} is in shard {} already': 'Tensor {0} steht schon in Teil {1}',
  'split.tensors.count is {}, but the shards have {#tensor}':
    'split.tensors.count ist {0}, aber die Teile haben {1#Tensor/Tensoren}',
  'the prompt that the template makes lacks {~}': 'Im Prompt des Templates fehlt {0}',
  '{~} of a conversation of three': '{0} einer Unterhaltung mit dreien',
  "the user's message": 'die Nachricht des Benutzers',
  "the user's first message": 'die erste Nachricht des Benutzers',
  "the assistant's message": 'die Nachricht des Assistenten',
  "the user's last message": 'die letzte Nachricht des Benutzers',
  'the template is empty: the format {} is used': 'Das Template ist leer: Das Format {0} wird benutzt',
  'the template is empty: it is not used': 'Das Template ist leer: Es wird nicht benutzt',
  'the template is only the name {}: the format {} is used':
    'Das Template ist nur der Name {0}: Das Format {1} wird benutzt',
  'not there': 'nicht da',
  'this is a Git LFS pointer, not the file: fetch the content (git lfs pull, or the download address)':
    'Dies ist ein Git-LFS-Zeiger, nicht die Datei: Laden Sie den Inhalt (git lfs pull oder die Download-Adresse)',
  'this is a safetensors file, not GGUF': 'Dies ist eine safetensors-Datei, kein GGUF',
  'the file begins with zeros: it was not written whole':
    'Die Datei beginnt mit Nullen: Sie wurde nicht vollständig geschrieben',
  'this is a zip archive (perhaps a PyTorch checkpoint), not GGUF':
    'Dies ist ein Zip-Archiv (vielleicht ein PyTorch-Checkpoint), kein GGUF',
  'this is a Python pickle (an old PyTorch checkpoint), not GGUF':
    'Dies ist ein Python-Pickle (ein alter PyTorch-Checkpoint), kein GGUF',
  'the header is not whole': 'Der Kopf ist nicht vollständig',
}
