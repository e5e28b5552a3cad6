// What the package says, in German: messages of lint, meanings of keys, and reasons. The English text is the key; see de.ts.
export default {
  // Messages of rules
  'the magic is FUGG, as drafts of August 2023 wrote it: loaders want GGUF':
    'Die Kennung ist FUGG, wie Entwürfe vom August 2023 sie schrieben: Programme erwarten GGUF',
  'version 1 is no longer read by ggml': 'Version 1 liest ggml nicht mehr',
  'the file is big-endian: ggml reads it on big-endian machines only':
    'Die Datei ist big-endian: ggml liest sie nur auf Big-Endian-Maschinen',
  'big-endian files exist from version 3 on': 'Big-Endian-Dateien gibt es ab Version 3',
  'a key is empty': 'Ein Schlüssel ist leer',
  'key {} is there already': 'Schlüssel {0} kommt schon vor',
  'a key is longer than 65535 bytes': 'Ein Schlüssel ist länger als 65535 Byte',
  'key {} is not ASCII': 'Schlüssel {0} ist nicht ASCII',
  'key {} is not of snake_case words with dots between':
    'Schlüssel {0} besteht nicht aus snake_case-Wörtern mit Punkten dazwischen',
  '{} is an array of arrays: ggml reads none': '{0} ist ein Array von Arrays: ggml liest keine',
  'a bool of {} is {}, neither 0 nor 1': 'Ein Bool von {0} ist {1}, weder 0 noch 1',
  'a string of {} is not UTF-8': 'Ein Text von {0} ist nicht UTF-8',
  '{} holds a NUL: readers in C see only what is before it':
    '{0} enthält ein NUL: Programme in C sehen nur, was davor steht',
  '{} is deprecated: {} says it today': '{0} ist veraltet: heute heißt er {1}',
  'general.type is {}, none of model, adapter, imatrix and mmproj':
    'general.type ist {0}, weder model, adapter, imatrix noch mmproj',
  '{} is beyond {}, {}': '{0} liegt jenseits von {1}, {2}',
  '{} is {}, but nothing describes {}': '{0} ist {1}, aber nichts beschreibt {2}',
  '{} is {}, no UUID': '{0} ist {1}, keine UUID',
  '{} is a value that no sampler takes': '{0} hat einen Wert, den kein Sampler annimmt',
  'the name {} does not follow the naming convention': 'Der Name {0} folgt nicht der Namenskonvention',
  'the name says {}, general.file_type says {}': 'Der Name sagt {0}, general.file_type sagt {1}',
  'split.count without split.no': 'split.count ohne split.no',
  'shard {} (from 0) of {}': 'Teil {0} (ab 0) von {1}',
  'split.count without split.tensors.count': 'split.count ohne split.tensors.count',
  'this shard alone has more tensors than split.tensors.count says of all':
    'Dieser Teil allein hat mehr Tensoren, als split.tensors.count für alle nennt',
  'a shard whose name does not end in -0000M-of-0000N.gguf':
    'Ein Teil, dessen Name nicht auf -0000M-of-0000N.gguf endet',
  'the name says shard {} of {}, the keys say {} of {}':
    'Der Name sagt Teil {0} von {1}, die Schlüssel sagen {2} von {3}',
  'an adapter whose {} is not {}': 'Ein Adapter, dessen {0} nicht {1} ist',
  'an adapter without adapter.lora.alpha': 'Ein Adapter ohne adapter.lora.alpha',
  'tensor {} has no {}': 'Tensor {0} hat kein {1}',
  'tensor {} is neither a .lora_a nor a .lora_b': 'Tensor {0} ist weder ein .lora_a noch ein .lora_b',
  'tensor {} is of rank {}, its .lora_b of rank {}': 'Tensor {0} hat Rang {1}, sein .lora_b Rang {2}',
  'an importance matrix without {}': 'Eine Wichtigkeitsmatrix ohne {0}',
  'an importance matrix without tensors': 'Eine Wichtigkeitsmatrix ohne Tensoren',
  'tensor {} is not of F32': 'Tensor {0} ist nicht F32',
  'a control vector without directions': 'Ein Steuervektor ohne Richtungen',
  'tensor {} is no direction.N of one dimension in F32, N from 1 on':
    'Tensor {0} ist kein direction.N mit einer Dimension in F32, N ab 1',
  'tensor {} has {} elements, the first one {}': 'Tensor {0} hat {1} Elemente, der erste {2}',
  'a control vector without controlvector.model_hint': 'Ein Steuervektor ohne controlvector.model_hint',
  'general.alignment is {}, not u32': 'general.alignment ist {0}, nicht u32',
  'alignment {} is not a power of two': 'Ausrichtung {0} ist keine Zweierpotenz',
  'alignment {} is not a multiple of 8': 'Ausrichtung {0} ist kein Vielfaches von 8',
  'alignment {} is needlessly large': 'Ausrichtung {0} ist unnötig groß',
  'tensor {} is there already': 'Tensor {0} kommt schon vor',
  'tensor {} has a name of {} bytes (ggml takes 63, the specification 64)':
    'Tensor {0} hat einen Namen von {1} Byte (ggml nimmt 63, die Spezifikation 64)',
  'tensor {} has no name': 'Tensor {0} hat keinen Namen',
  'tensor {} has a name that is not UTF-8': 'Tensor {0} hat einen Namen, der nicht UTF-8 ist',
  'tensor {} has a NUL in its name: ggml sees only what is before it':
    'Tensor {0} hat ein NUL im Namen: ggml sieht nur, was davor steht',
  'tensor {} has {#dimension}: 4 at most': 'Tensor {0} hat {1#Dimension/Dimensionen}: höchstens 4',
  'tensor {} has no dimensions': 'Tensor {0} hat keine Dimensionen',
  'tensor {} has no elements': 'Tensor {0} hat keine Elemente',
  'tensor {} has a dimension of 2^63 or more': 'Tensor {0} hat eine Dimension von 2^63 oder mehr',
  'tensor {} has {#element}: ggml counts up to 2^63 - 1':
    'Tensor {0} hat {1#Element/Elemente}: ggml zählt bis 2^63 - 1',
  'tensor {} has rows of {#element}, not whole blocks of {} ({})':
    'Tensor {0} hat Zeilen von {1#Element/Elementen}, keine ganzen Blöcke von {2} ({3})',
  '{} tensors have super-blocks of 64 elements': '{0} Tensoren haben Superblöcke von 64 Elementen',
  'tensor {} lies before the tensor listed before it':
    'Tensor {0} liegt vor dem Tensor, der vor ihm in der Liste steht',
  'tensor {} overlaps tensor {}': 'Tensor {0} überlappt Tensor {1}',
  'the sizes of all tensors add up to 2^63 bytes or more':
    'Die Größen aller Tensoren ergeben zusammen 2^63 Byte oder mehr',
  'the padding before the tensor data is not zero': 'Die Füllung vor den Tensordaten ist nicht null',
  'the tensor data begins at {}, no multiple of 32: llama.cpp cannot map the file':
    'Die Tensordaten beginnen bei {0}, keinem Vielfachen von 32: llama.cpp kann die Datei nicht in den Speicher abbilden',
  'the specification requires {}': 'Die Spezifikation verlangt {0}',
  'general.architecture is missing': 'general.architecture fehlt',
  'architecture {} has other characters than a-z and 0-9':
    'Architektur {0} hat andere Zeichen als a-z und 0-9',
  'architecture {} is not for llama.cpp but for {~}':
    'Architektur {0} ist nicht für llama.cpp, sondern für {1}',
  'architecture {} is not among those of llama.cpp that this build knows':
    'Architektur {0} gehört nicht zu denen von llama.cpp, die dieser Stand kennt',
  'the architecture is {}, but there is {}': 'Die Architektur ist {0}, aber es gibt {1}',
  '{} has {#element} for {#block}': '{0} hat {1#Element/Elemente} für {2#Block/Blöcke}',
  'block_count is {}: llama.cpp takes 1 to 512': 'block_count ist {0}: llama.cpp nimmt 1 bis 512',
  '{#expert}: llama.cpp takes 512 at most': '{0#Experte/Experten}: llama.cpp nimmt höchstens 512',
  '{#expert} used of {}': '{0#Experte/Experten} von {1} verwendet',
  '{} is 0: each program chooses a context of its own':
    '{0} ist 0: Jedes Programm wählt selbst einen Kontext',
  'embedding_length {} is not divided evenly by {#head}':
    'embedding_length {0} ist nicht durch {1#Kopf/Köpfe} teilbar',
  '{#head} cannot share {} key-value heads evenly':
    '{0#Kopf kann/Köpfe können} sich {1} Key-Value-Köpfe nicht gleichmäßig teilen',
  'rope.dimension_count is {} for heads of {}': 'rope.dimension_count ist {0} bei Köpfen von {1}',
  'unknown rope scaling {}': 'Unbekannte RoPE-Skalierung {0}',
  'the tensors are laid out as {}, which llama.cpp does not look at':
    'Die Tensoren haben das Layout {0}, das llama.cpp nicht beachtet',
  '{} is 0: the model could not read any audio': '{0} ist 0: Das Modell könnte kein Audio lesen',
  'there are quantized tensors, but no general.quantization_version':
    'Es gibt quantisierte Tensoren, aber kein general.quantization_version',
  'quantization version {}: block layouts are known for version 2':
    'Quantisierungsversion {0}: Bekannt sind die Blocklayouts von Version 2',
  'a projector with neither an image nor an audio encoder':
    'Ein Projektor ohne Encoder für Bilder und für Audio',
  'a projector without {}': 'Ein Projektor ohne {0}',
  'projector {} is not among those of llama.cpp that this build knows':
    'Projektor {0} gehört nicht zu denen von llama.cpp, die dieser Stand kennt',
  'clip.use_gelu and clip.use_silu are both true': 'clip.use_gelu und clip.use_silu sind beide true',
  'a projector without tensor {}': 'Ein Projektor ohne Tensor {0}',
  'llama.cpp requires {}': 'llama.cpp verlangt {0}',
  'a model of text without token_embd.weight': 'Ein Textmodell ohne token_embd.weight',
  'block {} has no tensors': 'Block {0} hat keine Tensoren',
  'blocks {} to {} have no tensors': 'Die Blöcke {0} bis {1} haben keine Tensoren',
  'a loop over range({})': 'Eine Schleife über range({0})',
  'a condition on what a message says: {}': 'Eine Bedingung an den Inhalt einer Nachricht: {0}',
  'the template itself says {}': 'Das Template selbst sagt {0}',
  'reaches for {} of the program that renders it': 'Greift nach {0} des Programms, das es verwendet',
  'an invisible character in the template': 'Ein unsichtbares Zeichen im Template',
  'as many if as endif are not in the template': 'Das Template hat nicht ebenso viele if wie endif',
  'as many for as endfor are not in the template': 'Das Template hat nicht ebenso viele for wie endfor',
  'tokenizer.chat_templates names {}, which is not there':
    'tokenizer.chat_templates nennt {0}, das es nicht gibt',
  'the template nests more than 64 deep': 'Das Template ist tiefer als 64 verschachtelt',
  "a condition on today's date": 'Eine Bedingung an das heutige Datum',
  '200 blanks in a row: what follows is out of sight':
    '200 Leerzeichen in Folge: Was folgt, ist nicht zu sehen',
  'a word of 200 letters, as encoded text is': 'Ein Wort von 200 Buchstaben, wie kodierter Text',
  'the template itself names {}': 'Das Template selbst nennt {0}',
  'llama.cpp has no tensor {} for {}, and refuses a file with one':
    'llama.cpp hat für {1} keinen Tensor {0} und lehnt eine Datei damit ab',
  'tokenizer.ggml.model is missing': 'tokenizer.ggml.model fehlt',
  'llama.cpp knows no tokenizer {}': 'llama.cpp kennt keinen Tokenizer {0}',
  'unknown pre-tokenizer {}': 'Unbekannter Pre-Tokenizer {0}',
  'tokenizer.ggml.pre is missing: the default may be wrong':
    'tokenizer.ggml.pre fehlt: Die Vorgabe kann falsch sein',
  'tokenizer.ggml.tokens is missing': 'tokenizer.ggml.tokens fehlt',
  'tokenizer.ggml.merges is missing': 'tokenizer.ggml.merges fehlt',
  '{} is not an array of {}: llama.cpp refuses it': '{0} ist kein Array von {1}: llama.cpp lehnt es ab',
  'token {} {} is there already': 'Token {0} {1} kommt schon vor',
  'token {} is empty': 'Token {0} ist leer',
  'token {} is of type {}: 1 to 6 are defined': 'Token {0} hat den Typ {1}: definiert sind 1 bis 6',
  'byte token {} is {}, not of the form <0xHH>': 'Byte-Token {0} ist {1}, nicht von der Form <0xHH>',
  'the score of token {} is not finite': 'Die Wertung von Token {0} ist nicht endlich',
  'merge {} {} is not two pieces': 'Merge {0} {1} besteht nicht aus zwei Stücken',
  '{} is {} of {#token}': '{0} ist {1} bei {2} Token',
  '{} is {}: llama.cpp reads u32': '{0} ist {1}: llama.cpp liest u32',
  '{} is set, but {} is missing': '{0} ist gesetzt, aber {1} fehlt',
  'a model whose general.name says Phi-3 without a token {}: llama.cpp requires it':
    'Ein Modell, dessen general.name Phi-3 sagt, ohne ein Token {0}: llama.cpp verlangt es',
  'the precompiled_charsmap is shorter than it says': 'precompiled_charsmap ist kürzer, als es angibt',
  "{} is not read: llama.cpp's key is {}": '{0} wird nicht gelesen: Der Schlüssel von llama.cpp ist {1}',
  '{} is no JSON object': '{0} ist kein JSON-Objekt',
  'tensor {} begins beyond the end of the file': 'Tensor {0} beginnt hinter dem Ende der Datei',
  'the file is cut: {} of {#byte} are missing, and the data of {} of {#tensor} is not whole, from tensor {} on':
    'Die Datei ist abgeschnitten: {0} von {1} Byte fehlen, und die Daten von {2} von {3#Tensor/Tensoren} sind nicht vollständig, ab Tensor {4}',
  '{#byte follows/bytes follow} the tensor data': '{0#Byte folgt/Byte folgen} auf die Tensordaten',
  '{#byte lies/bytes lie} unused before tensor {}': 'Vor Tensor {1}: {0#unbenutztes Byte/unbenutzte Byte}',
  '{#byte follows/bytes follow} the tensor data at byte {}: {}':
    '{0#Byte folgt/Byte folgen} auf die Tensordaten bei Byte {1}: {2}',
  'tensor {} is of type {}, which was removed from ggml':
    'Tensor {0} hat den Typ {1}, der aus ggml entfernt wurde',
  '{#tensor begins/tensors begin} at no multiple of the alignment {}, the first is tensor {} at {}':
    '{0#Tensor beginnt/Tensoren beginnen} nicht an einem Vielfachen der Ausrichtung {1}, der erste ist Tensor {2} bei {3}',
  '{} is {}, not {}': '{0} ist {1}, nicht {2}',
  '{} is missing, on which depend the shapes of {#tensor}':
    '{0} fehlt; davon hängen die Formen von {1#Tensor/Tensoren} ab',
  '{} is 0, on which depend the shapes of {#tensor}':
    '{0} ist 0; davon hängen die Formen von {1#Tensor/Tensoren} ab',
  "a {} container from before GGUF: today's loaders refuse it until it is converted":
    'Ein {0}-Container aus der Zeit vor GGUF: Heutige Programme lehnen ihn ab, bis er konvertiert ist',
  '{#tensor belongs/tensors belong} to none of the {#block}, the first is tensor {}':
    '{0#Tensor gehört/Tensoren gehören} zu keinem der {1} Blöcke, der erste ist Tensor {2}',
  'llama.cpp requires {}, on which the shapes of {#tensor} depend':
    'llama.cpp verlangt {0}, von dem die Formen von {1#Tensor/Tensoren} abhängen',
  'llama.cpp requires tensor {}': 'llama.cpp verlangt den Tensor {0}',
  '{} is missing': '{0} fehlt',
  // Meanings of keys, and fixes
  'Which architecture the model implements; it prefixes the keys of the hyper-parameters.':
    'Welche Architektur das Modell hat; mit ihr beginnen die Schlüssel der Hyperparameter.',
  'What the file is: model, adapter, imatrix or mmproj.':
    'Was die Datei ist: model, adapter, imatrix oder mmproj.',
  'Version of the block layouts of quantized tensors; 2 today.':
    'Version der Blocklayouts quantisierter Tensoren; heute 2.',
  'Tensor data begins at multiples of this; 32 when absent.':
    'Tensordaten beginnen an Vielfachen davon; 32, wenn der Schlüssel fehlt.',
  'Which mixture of types the quantizer was asked for (llama_ftype).':
    'Welche Mischung von Typen vom Quantisierer verlangt wurde (llama_ftype).',
  "The model's name, for people.": 'Der Name des Modells, für Menschen.',
  'Who made the model.': 'Wer das Modell gemacht hat.',
  'Version of the model.': 'Version des Modells.',
  'Who published the model.': 'Wer das Modell veröffentlicht hat.',
  'Name of the base model or family, as file names use it.':
    'Name des Basismodells oder der Familie, wie ihn Dateinamen verwenden.',
  'What the base model was tuned for.': 'Wofür das Basismodell angepasst wurde.',
  'Free text about the model.': 'Freier Text über das Modell.',
  'Who quantized the file.': 'Wer die Datei quantisiert hat.',
  'Size class by parameters and experts, such as 8x7B.':
    'Größenklasse nach Parametern und Experten, wie 8x7B.',
  'SPDX expression of the licence.': 'SPDX-Ausdruck der Lizenz.',
  'Name of the licence, for people.': 'Name der Lizenz, für Menschen.',
  "Where the licence's text is.": 'Wo der Text der Lizenz steht.',
  'Home page of the model.': 'Homepage des Modells.',
  'Digital object identifier of the model.': 'Digital Object Identifier des Modells.',
  'Universally unique identifier of the model.': 'Weltweit eindeutige Kennung des Modells.',
  'Repository of the model.': 'Repository des Modells.',
  'Words to find the model by.': 'Wörter, unter denen man das Modell findet.',
  'Languages that the model speaks.': 'Sprachen, die das Modell spricht.',
  'Data sets that the model was trained on.': 'Datensätze, auf denen das Modell trainiert wurde.',
  'Home page of the model that this file was converted from.':
    'Homepage des Modells, aus dem diese Datei konvertiert wurde.',
  'Repository of the source model.': 'Repository des Ausgangsmodells.',
  'Hugging Face repository of the source model.': 'Hugging-Face-Repository des Ausgangsmodells.',
  'How many parent models are described.': 'Wie viele Basismodelle beschrieben sind.',
  'Name of a parent model.': 'Name eines Basismodells.',
  'Author of a parent model.': 'Autor eines Basismodells.',
  'Version of a parent model.': 'Version eines Basismodells.',
  'Publisher of a parent model.': 'Herausgeber eines Basismodells.',
  'Free text about a parent model.': 'Freier Text über ein Basismodell.',
  'Home page of a parent model.': 'Homepage eines Basismodells.',
  'Repository of a parent model.': 'Repository eines Basismodells.',
  'Recommended order of the samplers.': 'Empfohlene Reihenfolge der Sampler.',
  'Recommended: sample among the k likeliest tokens.':
    'Empfohlen: unter den k wahrscheinlichsten Token wählen.',
  'Recommended: sample among the likeliest tokens that add up to this probability.':
    'Empfohlen: unter den wahrscheinlichsten Token wählen, die zusammen diese Wahrscheinlichkeit haben.',
  "Recommended: drop tokens below this share of the likeliest one's probability.":
    'Empfohlen: Token unter diesem Anteil der Wahrscheinlichkeit des wahrscheinlichsten weglassen.',
  'Recommended temperature.': 'Empfohlene Temperatur.',
  'Recommended penalty of repeated tokens; 1 is none.':
    'Empfohlene Strafe für wiederholte Token; 1 ist keine.',
  'Rows of the token embedding.': 'Zeilen des Token-Embeddings.',
  'Longest sequence that the model was trained on.': 'Längste Sequenz, auf der das Modell trainiert wurde.',
  'Width of the hidden state.': 'Breite des verborgenen Zustands.',
  'Width of the output embeddings where it differs.': 'Breite der Ausgabe-Embeddings, wo sie abweicht.',
  'How many blocks of attention and feed-forward layers there are.':
    'Wie viele Blöcke aus Attention und Feed-Forward es gibt.',
  'How many blocks the decoder has.': 'Wie viele Blöcke der Decoder hat.',
  'How many first blocks are dense in a model with experts.':
    'Wie viele erste Blöcke eines Modells mit Experten dicht sind.',
  'Width of the feed-forward layer.': 'Breite der Feed-Forward-Schicht.',
  'Width of the feed-forward layer of one expert.': 'Breite der Feed-Forward-Schicht eines Experten.',
  'Width of the feed-forward layer of the shared experts.':
    'Breite der Feed-Forward-Schicht der gemeinsamen Experten.',
  'Whether attention and feed-forward read the same input and add up.':
    'Ob Attention und Feed-Forward dieselbe Eingabe lesen und addiert werden.',
  'How tensors were rearranged in conversion; reference when absent.':
    'Wie Tensoren beim Konvertieren umgeordnet wurden; ohne Schlüssel gar nicht.',
  'How many experts a block has.': 'Wie viele Experten ein Block hat.',
  'How many experts a token goes through.': 'Durch wie viele Experten ein Token geht.',
  'How many experts every token goes through.': 'Durch wie viele Experten jedes Token geht.',
  'How many groups the experts are routed in.': 'In wie vielen Gruppen die Experten gewählt werden.',
  'How many groups a token may use.': 'Wie viele Gruppen ein Token verwenden darf.',
  "Factor of the routed experts' weights.": 'Faktor der Gewichte der gewählten Experten.',
  "Whether the chosen experts' weights are normalized to sum 1.":
    'Ob die Gewichte der gewählten Experten auf die Summe 1 normiert werden.',
  'Routing function: 1 softmax, 2 sigmoid, 3 softmax of the chosen weights.':
    'Routing-Funktion: 1 Softmax, 2 Sigmoid, 3 Softmax der gewählten Gewichte.',
  'How many last blocks predict further tokens at once.':
    'Wie viele letzte Blöcke weitere Token auf einmal vorhersagen.',
  'How embeddings are pooled: 0 none, 1 mean, 2 first token, 3 last token, 4 rank.':
    'Wie Embeddings zusammengefasst werden: 0 gar nicht, 1 Mittel, 2 erstes Token, 3 letztes Token, 4 Rang.',
  'Factor of the output logits.': 'Faktor der Ausgabe-Logits.',
  'Token that a decoder begins with.': 'Token, mit dem ein Decoder beginnt.',
  'Attention scores are squashed by tanh to stay within this.':
    'Attention-Werte werden durch tanh innerhalb dieser Grenze gehalten.',
  'Output logits are squashed by tanh to stay within this.':
    'Ausgabe-Logits werden durch tanh innerhalb dieser Grenze gehalten.',
  'Factor of what each layer adds to the hidden state.':
    'Faktor dessen, was jede Schicht zum verborgenen Zustand addiert.',
  'Factor of the token embeddings.': 'Faktor der Token-Embeddings.',
  'Every n-th block has full attention, the others linear.':
    'Jeder n-te Block hat volle Attention, die anderen lineare.',
  'Attention heads.': 'Köpfe der Attention.',
  'Key and value heads; fewer than head_count where heads share them.':
    'Key- und Value-Köpfe; weniger als head_count, wo Köpfe sie teilen.',
  'Largest slope of the ALiBi position bias.': 'Größte Steigung des ALiBi-Positionsbias.',
  'Queries, keys and values are clamped to plus or minus this.':
    'Queries, Keys und Values werden auf plus oder minus diesen Wert begrenzt.',
  'Width of a key head; embedding length over heads when absent.':
    'Breite eines Key-Kopfes; ohne Schlüssel Embedding-Länge durch Köpfe.',
  'Width of a value head; embedding length over heads when absent.':
    'Breite eines Value-Kopfes; ohne Schlüssel Embedding-Länge durch Köpfe.',
  'Width of a key head in multi-head latent attention.':
    'Breite eines Key-Kopfes bei Multi-Head Latent Attention.',
  'Width of a value head in multi-head latent attention.':
    'Breite eines Value-Kopfes bei Multi-Head Latent Attention.',
  'Width of a key head in sliding-window blocks.':
    'Breite eines Key-Kopfes in Blöcken mit gleitendem Fenster.',
  'Width of a value head in sliding-window blocks.':
    'Breite eines Value-Kopfes in Blöcken mit gleitendem Fenster.',
  'Added to the variance in layer norms.': 'Wird in Layer-Norms zur Varianz addiert.',
  'Added to the mean square in RMS norms.': 'Wird in RMS-Norms zum mittleren Quadrat addiert.',
  'Whether a token sees only those before it.': 'Ob ein Token nur die Token vor ihm sieht.',
  'Rank of the compressed queries.': 'Rang der komprimierten Queries.',
  'Rank of the compressed keys and values.': 'Rang der komprimierten Keys und Values.',
  'T5: buckets of relative positions.': 'T5: Klassen relativer Positionen.',
  'How far back the windowed blocks see.': 'Wie weit die Blöcke mit Fenster zurücksehen.',
  'Which blocks are windowed: a period, or a flag for each block.':
    'Welche Blöcke ein Fenster haben: eine Periode oder ein Wert für jeden Block.',
  'How many last blocks use the keys and values of earlier ones.':
    'Wie viele letzte Blöcke die Keys und Values früherer verwenden.',
  'Factor of the attention scores; one over the root of the head width when absent.':
    'Faktor der Attention-Werte; ohne Schlüssel eins durch die Wurzel der Kopfbreite.',
  'How many elements of a head are rotated by position.':
    'Wie viele Elemente eines Kopfes nach der Position rotiert werden.',
  'The same in sliding-window blocks.': 'Dasselbe in Blöcken mit gleitendem Fenster.',
  'How the rotated elements are divided among time, height and width.':
    'Wie die rotierten Elemente auf Zeit, Höhe und Breite verteilt sind.',
  'Base of the rotation frequencies.': 'Basis der Rotationsfrequenzen.',
  'Linear factor that stretches positions (older files).':
    'Linearer Faktor, der Positionen streckt (ältere Dateien).',
  'How positions are stretched: none, linear, yarn or longrope.':
    'Wie Positionen gestreckt werden: none, linear, yarn oder longrope.',
  'By how much the context is stretched.': 'Um wie viel der Kontext gestreckt wird.',
  'Factor of the attention scores with stretched positions.':
    'Faktor der Attention-Werte bei gestreckten Positionen.',
  'Context length before stretching.': 'Kontextlänge vor der Streckung.',
  'Whether the model was tuned with stretched positions.':
    'Ob das Modell mit gestreckten Positionen angepasst wurde.',
  'Length of the rolling convolution.': 'Länge der laufenden Faltung.',
  'Width inside a state-space block.': 'Breite innerhalb eines State-Space-Blocks.',
  'Size of the recurrent state.': 'Größe des rekurrenten Zustands.',
  'Rank of the time step; heads in Mamba 2.': 'Rang des Zeitschritts; in Mamba 2 die Köpfe.',
  'Groups of a Mamba 2 block.': 'Gruppen eines Mamba-2-Blocks.',
  'RWKV: width of a head.': 'RWKV: Breite eines Kopfes.',
  'Kind of tokenizer: llama, gpt2, bert, t5, rwkv, plamo2, none.':
    'Art des Tokenizers: llama, gpt2, bert, t5, rwkv, plamo2, none.',
  'How text is cut before byte-pair merging.': 'Wie Text vor dem Byte-Pair-Merging zerlegt wird.',
  'Text of each token, by id.': 'Text jedes Tokens, nach der ID.',
  'Kind of each token: 1 normal, 2 unknown, 3 control, 4 user defined, 5 unused, 6 byte.':
    'Art jedes Tokens: 1 normal, 2 unbekannt, 3 Steuerung, 4 vom Benutzer, 5 unbenutzt, 6 Byte.',
  'How many segment types a BERT model knows.': 'Wie viele Segmenttypen ein BERT-Modell kennt.',
  'Score of each token; merges prefer the higher.': 'Wertung jedes Tokens; Merges bevorzugen die höhere.',
  'Pairs that byte-pair encoding merges, the earlier first.':
    'Paare, die das Byte-Pair-Encoding verschmilzt, die früheren zuerst.',
  'Tokens added after training.': 'Token, die nach dem Training hinzukamen.',
  'Begins a sequence.': 'Beginnt eine Sequenz.',
  'Ends a sequence.': 'Beendet eine Sequenz.',
  'Ends a turn.': 'Beendet einen Beitrag.',
  'Ends a message that goes on.': 'Beendet eine Nachricht, die weitergeht.',
  'Stands for what cannot be encoded.': 'Steht für das, was nicht kodiert werden kann.',
  "Stands between two texts (the specification's spelling).":
    'Steht zwischen zwei Texten (Schreibweise der Spezifikation).',
  "Stands between two texts (the writers' spelling).":
    'Steht zwischen zwei Texten (Schreibweise der Programme).',
  'Fills up a batch.': 'Füllt einen Stapel auf.',
  'Stands for a token to be predicted.': 'Steht für ein vorherzusagendes Token.',
  'Begins a text to classify.': 'Beginnt einen zu klassifizierenden Text.',
  'Before the text ahead of a gap.': 'Vor dem Text vor einer Lücke.',
  'Before the text behind a gap.': 'Vor dem Text nach einer Lücke.',
  'Before the text that fills a gap.': 'Vor dem Text, der eine Lücke füllt.',
  'Fills up a gap.': 'Füllt eine Lücke auf.',
  "Before a repository's name.": 'Vor dem Namen eines Repositorys.',
  'Between files of a repository.': 'Zwischen Dateien eines Repositorys.',
  'Whether texts get the begin-of-sequence token.': 'Ob Texte das Token für den Anfang bekommen.',
  'Whether texts get the end-of-sequence token.': 'Ob Texte das Token für das Ende bekommen.',
  'Whether texts get the separator token.': 'Ob Texte das Trennzeichen bekommen.',
  'Whether a space is put before the text.': 'Ob vor den Text ein Leerzeichen gesetzt wird.',
  'Whether runs of spaces become one.': 'Ob mehrere Leerzeichen zu einem werden.',
  "SentencePiece's compiled normalization rules.":
    'Die kompilierten Normalisierungsregeln von SentencePiece.',
  'The whole tokenizer.json of the source model.': 'Die ganze tokenizer.json des Ausgangsmodells.',
  'Turns a conversation into the text that the model expects.':
    'Macht aus einer Unterhaltung den Text, den das Modell erwartet.',
  'Another chat template, by name.': 'Ein weiteres Chat-Template, nach Namen.',
  'Names of the other chat templates.': 'Namen der weiteren Chat-Templates.',
  'Kind of adapter: lora.': 'Art des Adapters: lora.',
  'Strength of the adapter, over its rank.': 'Stärke des Adapters, durch seinen Rang geteilt.',
  'Which shard this is, from 0.': 'Der wievielte Teil dies ist, ab 0.',
  'How many shards the set has.': 'Wie viele Teile der Satz hat.',
  'Tensors of all shards together.': 'Tensoren aller Teile zusammen.',
  'Remove the tensor': 'Den Tensor entfernen',
  'Remove the key': 'Den Schlüssel entfernen',
  'Remove the entries beyond the last token': 'Die Einträge nach dem letzten Token entfernen',
  'Keep the first, remove the others': 'Den ersten behalten, die anderen entfernen',
  'Store it as {}': 'Als {0} speichern',
  'Align the tensors to {}': 'Die Tensoren auf {0} ausrichten',
  'Remove it: {} is there': 'Entfernen: {0} ist da',
  'Set it to {}': 'Auf {0} setzen',
  'Set it to {} {}': 'Auf {0} {1} setzen',
  'Replace the broken characters': 'Die fehlerhaften Zeichen ersetzen',
  'Remove the NUL characters': 'Die NUL-Zeichen entfernen',
  'Do not add the token': 'Den Token nicht anfügen',
  'Set the version to 2': 'Die Version auf 2 setzen',
  "Add the key in llama.cpp's spelling": 'Den Schlüssel in der Schreibweise von llama.cpp hinzufügen',
  'Rename it to {}': 'In {0} umbenennen',
  // Values of tensors
  'tensor {} of {} is damaged in {} of {#element}':
    'Tensor {0} vom Typ {1} ist in {2} von {3#Element/Elementen} beschädigt',
  'tensor {} of {} is damaged in {} of {#element}: {~}':
    'Tensor {0} vom Typ {1} ist in {2} von {3#Element/Elementen} beschädigt: {4}',
  'tensor {} of {} is damaged in {} of {#block}: {~}':
    'Tensor {0} vom Typ {1} ist in {2} von {3#Block/Blöcken} beschädigt: {4}',
  'element {} of row {} holds NaN': 'Element {0} der Zeile {1} ist NaN',
  'element {} of row {} holds an infinity': 'Element {0} der Zeile {1} ist unendlich',
  'block {} (in row {}) holds NaN': 'Block {0} (in Zeile {1}) enthält NaN',
  'block {} (in row {}) holds an infinity': 'Block {0} (in Zeile {1}) enthält eine unendliche Zahl',
  'block {} (in row {}) is of a type that no file should hold':
    'Block {0} (in Zeile {1}) ist von einem Typ, den keine Datei enthalten sollte',
  '{~} (and {} more tensors)': '{0} (und {1} weitere Tensoren)',
  // Why a model runs on the CPU
  ' (and {} more)': ' (und {0} weitere)',
  'Images are encoded on the CPU: {~}.': 'Bilder werden auf der CPU kodiert: {0}.',
  'Audio is encoded on the CPU: {~}.': 'Ton wird auf der CPU kodiert: {0}.',
  'A model with a draft model runs only on the CPU.': 'Ein Modell mit Entwurfsmodell läuft nur auf der CPU.',
  'A model with adapters runs on a graphics card only if that is requested.':
    'Ein Modell mit Adaptern läuft nur auf Verlangen auf einer Grafikkarte.',
  'There is no WebGPU here: the browser lacks it, or has switched it off, or the page does not come by https.':
    'Hier gibt es kein WebGPU: Der Browser hat es nicht oder hat es ausgeschaltet, oder die Seite kommt nicht über https.',
  'No graphics card answers WebGPU here.': 'Keine Grafikkarte antwortet hier auf WebGPU.',
  'Only software answers WebGPU here ({}), no graphics card.':
    'Auf WebGPU antwortet hier nur Software ({0}), keine Grafikkarte.',
}
