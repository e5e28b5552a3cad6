// What the package says, in German: the rules of lint. The English text is the key; see de.ts.
export default {
  // What rules mean
  'The file begins with FUGG, as drafts of August 2023 wrote the magic. ggml refuses it.':
    'Die Datei beginnt mit FUGG, wie Entwürfe vom August 2023 die Kennung schrieben. ggml lehnt sie ab.',
  'The file has version 1 of the format. ggml no longer reads it.':
    'Die Datei hat Version 1 des Formats. ggml liest sie nicht mehr.',
  'The file is big-endian. ggml reads it on big-endian machines only.':
    'Die Datei ist big-endian. ggml liest sie nur auf Big-Endian-Maschinen.',
  'The file is big-endian and older than version 3. The format supports big-endian files only from version 3 on.':
    'Die Datei ist big-endian und älter als Version 3. Das Format kennt Big-Endian-Dateien erst ab Version 3.',
  'A key has no name. ggml refuses the file.': 'Ein Schlüssel hat keinen Namen. ggml lehnt die Datei ab.',
  'A key occurs twice. ggml refuses the file.': 'Ein Schlüssel kommt zweimal vor. ggml lehnt die Datei ab.',
  'A key is longer than 65,535 bytes. The specification does not allow it.':
    'Ein Schlüssel ist länger als 65.535 Byte. Die Spezifikation erlaubt das nicht.',
  'A key has characters beyond ASCII. The specification does not allow it.':
    'Ein Schlüssel hat Zeichen außerhalb von ASCII. Die Spezifikation erlaubt das nicht.',
  'A key does not consist of words of a-z, 0-9 and _, separated by dots. The specification requires this form.':
    'Ein Schlüssel besteht nicht aus Wörtern aus a-z, 0-9 und _, durch Punkte getrennt. Die Spezifikation verlangt diese Form.',
  'A value is an array of arrays. The format allows this, but ggml refuses the file.':
    'Ein Wert ist ein Array von Arrays. Das Format erlaubt das, aber ggml lehnt die Datei ab.',
  'A bool is neither 0 nor 1.': 'Ein Bool ist weder 0 noch 1.',
  'A string is not UTF-8. The specification asks for UTF-8; some readers stop here.':
    'Ein Text ist nicht UTF-8. Die Spezifikation verlangt UTF-8; manche Programme brechen hier ab.',
  'A string contains a NUL character. Readers in C see only the text before it.':
    'Ein Text enthält ein NUL-Zeichen. Programme in C sehen nur den Text davor.',
  'A standard key has a type that differs from the specification. Readers may ignore or refuse it.':
    'Ein Standardschlüssel hat einen anderen Typ als in der Spezifikation. Programme ignorieren ihn vielleicht oder lehnen ihn ab.',
  'The key has a newer name.': 'Der Schlüssel hat einen neueren Namen.',
  '`general.type` is not model, adapter, imatrix or mmproj.':
    '`general.type` ist weder model, adapter, imatrix noch mmproj.',
  'The keys of base models or data sets do not match their count.':
    'Die Schlüssel von Basismodellen oder Datensätzen passen nicht zu ihrer Anzahl.',
  'A UUID is not of the form 8-4-4-4-12 hexadecimal digits.':
    'Eine UUID hat nicht die Form 8-4-4-4-12 hexadezimaler Ziffern.',
  'A recommended sampling value is out of range.':
    'Ein empfohlener Sampling-Wert liegt außerhalb des Bereichs.',
  "The file's name does not follow the naming convention of the specification. Nothing refuses it, and most good files have such a name, so the rule runs only on request: `--strict`, or `strict: true`.":
    'Der Name der Datei folgt nicht der Namenskonvention der Spezifikation. Nichts lehnt sie deshalb ab, und die meisten guten Dateien heißen so; darum läuft die Regel nur auf Wunsch: `--strict`, oder `strict: true`.',
  'The name states a different quantization than `general.file_type`.':
    'Der Name nennt eine andere Quantisierung als `general.file_type`.',
  'The keys that describe a shard are missing or contradict each other. llama.cpp refuses the set.':
    'Die Schlüssel, die einen Teil beschreiben, fehlen oder widersprechen sich. llama.cpp lehnt den Satz ab.',
  'The name and the keys name different shards. llama.cpp finds the other shards by name, and refuses the set.':
    'Name und Schlüssel nennen verschiedene Teile. llama.cpp findet die anderen Teile über den Namen und lehnt den Satz ab.',
  'A key of an adapter or an importance matrix has a type that its reader refuses.':
    'Ein Schlüssel eines Adapters oder einer Wichtigkeitsmatrix hat einen Typ, den sein Programm ablehnt.',
  'An adapter must have `general.type` adapter and `adapter.type` lora. Otherwise llama.cpp refuses it.':
    'Ein Adapter muss `general.type` adapter und `adapter.type` lora haben. Sonst lehnt llama.cpp ihn ab.',
  'The adapter has no scale. llama.cpp uses the product of its matrices without a scale.':
    'Der Adapter hat keine Skalierung. llama.cpp verwendet das Produkt seiner Matrizen ohne Skalierung.',
  'A matrix of an adapter has no counterpart. llama.cpp refuses the adapter.':
    'Eine Matrix eines Adapters hat kein Gegenstück. llama.cpp lehnt den Adapter ab.',
  'The adapter has a tensor that is not part of a pair. llama.cpp refuses it.':
    'Der Adapter hat einen Tensor, der zu keinem Paar gehört. llama.cpp lehnt ihn ab.',
  'The two matrices of a pair have different ranks. llama.cpp refuses the adapter.':
    'Die zwei Matrizen eines Paares haben verschiedenen Rang. llama.cpp lehnt den Adapter ab.',
  'An importance matrix has no such key, or one half of a pair of tensors is missing. llama-quantize refuses it.':
    'Einer Wichtigkeitsmatrix fehlt ein solcher Schlüssel oder eine Hälfte eines Tensorpaares. llama-quantize lehnt sie ab.',
  'A tensor of an importance matrix is not F32. llama-quantize reads only F32.':
    'Ein Tensor einer Wichtigkeitsmatrix ist nicht F32. llama-quantize liest nur F32.',
  'The tensors are not directions in F32, one for each layer from 1 on, all of the same length. llama.cpp refuses the file.':
    'Die Tensoren sind keine Richtungen in F32, eine für jede Schicht ab 1, alle gleich lang. llama.cpp lehnt die Datei ab.',
  'The file does not say for which architecture the control vector was made.':
    'Die Datei sagt nicht, für welche Architektur der Steuervektor gemacht wurde.',
  'ComfyUI-GGUF stores some tensors as rows of 256 elements and keeps their shape in a key. Such a key does not match any tensor. ComfyUI-GGUF fails to load the file.':
    'ComfyUI-GGUF speichert manche Tensoren als Zeilen von 256 Elementen und ihre Form in einem Schlüssel. Ein solcher Schlüssel passt zu keinem Tensor. ComfyUI-GGUF kann die Datei nicht laden.',
  '`general.alignment` is not u32, for example a bool. ggml refuses the file.':
    '`general.alignment` ist nicht u32, sondern zum Beispiel ein Bool. ggml lehnt die Datei ab.',
  'The alignment is not a power of two. ggml refuses the file.':
    'Die Ausrichtung ist keine Zweierpotenz. ggml lehnt die Datei ab.',
  'The alignment is not a multiple of 8, as the specification requires.':
    'Die Ausrichtung ist kein Vielfaches von 8, wie es die Spezifikation verlangt.',
  'The alignment is above 65,536: much of the file is padding.':
    'Die Ausrichtung ist größer als 65.536: Ein großer Teil der Datei ist Füllung.',
  'Two tensors have the same name. ggml refuses the file.':
    'Zwei Tensoren haben denselben Namen. ggml lehnt die Datei ab.',
  "A tensor's name is longer than 63 bytes. ggml refuses the file.":
    'Der Name eines Tensors ist länger als 63 Byte. ggml lehnt die Datei ab.',
  "A tensor has a longer name or more dimensions than ggml's own reader accepts. The file is for another program, which may accept it.":
    'Ein Tensor hat einen längeren Namen oder mehr Dimensionen, als ggml selbst liest. Die Datei ist für ein anderes Programm, das sie vielleicht annimmt.',
  'A tensor has no name.': 'Ein Tensor hat keinen Namen.',
  "A tensor's name is not UTF-8.": 'Der Name eines Tensors ist nicht UTF-8.',
  "A tensor's name contains a NUL character. ggml sees only the text before it.":
    'Der Name eines Tensors enthält ein NUL-Zeichen. ggml sieht nur den Text davor.',
  'A tensor has more than four dimensions. ggml refuses the file.':
    'Ein Tensor hat mehr als vier Dimensionen. ggml lehnt die Datei ab.',
  'A tensor has no dimensions: it is one number.':
    'Ein Tensor hat keine Dimensionen: Er ist eine einzelne Zahl.',
  'A tensor has a dimension of 0.': 'Ein Tensor hat eine Dimension von 0.',
  'A dimension is 2^63 or more. ggml refuses the file.':
    'Eine Dimension ist 2^63 oder größer. ggml lehnt die Datei ab.',
  'A tensor has more elements than ggml can count. ggml refuses the file.':
    'Ein Tensor hat mehr Elemente, als ggml zählen kann. ggml lehnt die Datei ab.',
  "A tensor's type is not one of ggml's. ggml and llama.cpp refuse the file. If the type belongs to a fork, the message names the fork.":
    'Der Typ eines Tensors ist keiner von ggml. ggml und llama.cpp lehnen die Datei ab. Gehört der Typ zu einem Fork, nennt ihn die Meldung.',
  'llama.cpp loads the tensor, but ends the program when it computes with it on a CPU: it takes norms, biases and other tensors that are no matrices as F32 only, and no matrices of integers, F64, Q8_1 or Q8_K.':
    'llama.cpp lädt den Tensor, beendet aber das Programm, wenn es auf einer CPU damit rechnet: Normen, Biases und andere Tensoren, die keine Matrizen sind, nimmt es nur als F32, und keine Matrizen von Ganzzahlen, F64, Q8_1 oder Q8_K.',
  "A tensor's type was removed from ggml. Today's llama.cpp refuses the file.":
    'Der Typ eines Tensors wurde aus ggml entfernt. Das heutige llama.cpp lehnt die Datei ab.',
  'A row does not consist of whole blocks of its type. ggml refuses the file.':
    'Eine Zeile besteht nicht aus ganzen Blöcken ihres Typs. ggml lehnt die Datei ab.',
  "The K types have blocks of 64 elements, as special builds wrote until May 2024. Today's llama.cpp does not read them.":
    'Die K-Typen haben Blöcke von 64 Elementen, wie besondere Builds sie bis Mai 2024 schrieben. Das heutige llama.cpp liest sie nicht.',
  'A tensor does not begin at a multiple of the alignment. ggml refuses the file.':
    'Ein Tensor beginnt nicht an einem Vielfachen der Ausrichtung. ggml lehnt die Datei ab.',
  'The tensor data does not begin at a multiple of 32. llama.cpp maps files into memory, and aborts with a failed assertion. It reads the file with --load-mode none.':
    'Die Tensordaten beginnen nicht an einem Vielfachen von 32. llama.cpp bildet Dateien in den Speicher ab und bricht mit einem Fehler ab. Mit --load-mode none liest es die Datei.',
  'The data of tensors is not in the order in which they are listed. ggml refuses the file.':
    'Die Daten der Tensoren stehen nicht in der Reihenfolge der Liste. ggml lehnt die Datei ab.',
  'Two tensors share bytes. ggml refuses the file.':
    'Zwei Tensoren haben gemeinsame Bytes. ggml lehnt die Datei ab.',
  'There are unused bytes between tensors. ggml refuses the file.':
    'Zwischen Tensoren stehen unbenutzte Bytes. ggml lehnt die Datei ab.',
  'The sizes of all tensors add up to 2^63 bytes or more. ggml refuses the file.':
    'Die Größen aller Tensoren ergeben zusammen 2^63 Byte oder mehr. ggml lehnt die Datei ab.',
  'The file ends before its tensor data ends. llama.cpp refuses it.':
    'Die Datei endet vor dem Ende ihrer Tensordaten. llama.cpp lehnt sie ab.',
  'Bytes follow the tensor data. Readers ignore them.':
    'Nach den Tensordaten folgen weitere Bytes. Programme ignorieren sie.',
  'The padding before the tensor data is not zero, which the specification requires.':
    'Die Füllung vor den Tensordaten ist nicht null, wie es die Spezifikation verlangt.',
  'The file is a language model without `general.architecture`. llama.cpp refuses it.':
    'Die Datei ist ein Sprachmodell ohne `general.architecture`. llama.cpp lehnt sie ab.',
  "The architecture's name has characters other than a-z and 0-9, which the specification does not allow.":
    'Der Name der Architektur hat andere Zeichen als a-z und 0-9, was die Spezifikation nicht erlaubt.',
  "The file is for another program than llama.cpp, which the message names. The rules of llama.cpp's loader do not apply to it. stable-diffusion.cpp writes files without `general.architecture`.":
    'Die Datei ist für ein anderes Programm als llama.cpp, das die Meldung nennt. Die Regeln des Laders von llama.cpp gelten für sie nicht. stable-diffusion.cpp schreibt Dateien ohne `general.architecture`.',
  'llama.cpp does not have this architecture, and refuses the file. The rules of its loader are not checked.':
    'llama.cpp hat diese Architektur nicht und lehnt die Datei ab. Die Regeln seines Laders werden nicht geprüft.',
  'A SentencePiece vocabulary has no tokens for some bytes. Characters without a token of their own are cut into bytes; llama.cpp aborts where one has no token.':
    'Einem SentencePiece-Vokabular fehlen Token für manche Bytes. Zeichen ohne eigenes Token werden in Bytes zerlegt; llama.cpp bricht ab, wo eines kein Token hat.',
  'The file has keys of one architecture and names another, of which it has none. llama.cpp refuses it.':
    'Die Datei hat Schlüssel einer Architektur und nennt eine andere, von der sie keine hat. llama.cpp lehnt sie ab.',
  'The specification requires the key for this architecture.':
    'Die Spezifikation verlangt den Schlüssel für diese Architektur.',
  'A list with one value for each block has the wrong length. llama.cpp refuses the file.':
    'Eine Liste mit einem Wert für jeden Block hat die falsche Länge. llama.cpp lehnt die Datei ab.',
  '`block_count` is 0 or above 512. llama.cpp refuses the file.':
    '`block_count` ist 0 oder größer als 512. llama.cpp lehnt die Datei ab.',
  'The file has more than 512 experts, or uses none or more than it has. llama.cpp refuses it.':
    'Die Datei hat mehr als 512 Experten, oder sie verwendet keinen oder mehr, als sie hat. llama.cpp lehnt sie ab.',
  'The context length is 0. llama.cpp computes nevertheless, as this engine does, with a context that the program chooses.':
    'Die Kontextlänge ist 0. llama.cpp rechnet trotzdem, wie diese Engine, mit einem Kontext, den das Programm wählt.',
  'Set the key to the length for which the model was trained, with `ggufscope set`.':
    'Setzen Sie den Schlüssel mit `ggufscope set` auf die Länge, für die das Modell trainiert wurde.',
  'The width is not divisible by the number of heads, or the heads are not divisible by the key-value heads.':
    'Die Breite ist nicht durch die Zahl der Köpfe teilbar, oder die Köpfe nicht durch die Key-Value-Köpfe.',
  'This architecture rotates whole heads, but the file states another number of dimensions. llama.cpp refuses it.':
    'Diese Architektur rotiert ganze Köpfe, aber die Datei nennt eine andere Zahl von Dimensionen. llama.cpp lehnt sie ab.',
  'llama.cpp does not support this kind of RoPE scaling.':
    'llama.cpp unterstützt diese Art der RoPE-Skalierung nicht.',
  'The file states that its tensors do not have the usual layout. llama.cpp does not read this key.':
    'Die Datei sagt, dass ihre Tensoren nicht das übliche Layout haben. llama.cpp liest diesen Schlüssel nicht.',
  'A size of the audio input is 0. whisper.cpp cannot read it.':
    'Eine Größe der Audioeingabe ist 0. whisper.cpp kann sie nicht lesen.',
  'Tensors are quantized, but the file does not state the quantization version.':
    'Tensoren sind quantisiert, aber die Datei nennt die Version der Quantisierung nicht.',
  'The version of the quantization is not 2, so its blocks may have a different layout.':
    'Die Version der Quantisierung ist nicht 2; ihre Blöcke haben vielleicht ein anderes Layout.',
  "`general.file_type` is not in llama.cpp's list, or belongs to a removed type. rwkv.cpp and forks have their own lists.":
    '`general.file_type` steht nicht in der Liste von llama.cpp oder gehört zu einem entfernten Typ. rwkv.cpp und Forks haben eigene Listen.',
  'No tensor has the type that `general.file_type` names.':
    'Kein Tensor hat den Typ, den `general.file_type` nennt.',
  'A multimodal projector has neither an image nor an audio encoder. llama.cpp refuses it.':
    'Ein multimodaler Projektor hat weder einen Encoder für Bilder noch für Audio. llama.cpp lehnt ihn ab.',
  'A key of a projector is missing. llama.cpp refuses it.':
    'Ein Schlüssel eines Projektors fehlt. llama.cpp lehnt ihn ab.',
  'This version does not support this kind of projector.':
    'Diese Version unterstützt diese Art von Projektor nicht.',
  'A key of a projector has another type than llama.cpp reads.':
    'Ein Schlüssel eines Projektors hat einen anderen Typ, als llama.cpp liest.',
  "A value of a projector is out of llama.cpp's range.":
    'Ein Wert eines Projektors liegt außerhalb des Bereichs von llama.cpp.',
  'A tensor of a projector is missing. llama.cpp refuses it.':
    'Ein Tensor eines Projektors fehlt. llama.cpp lehnt ihn ab.',
  'llama.cpp reads this key of the architecture and refuses the model without it.':
    'llama.cpp liest diesen Schlüssel der Architektur und lehnt das Modell ohne ihn ab.',
  'llama.cpp accepts only one type for this key, and refuses the model.':
    'llama.cpp nimmt für diesen Schlüssel nur einen Typ an und lehnt das Modell ab.',
  'A language model has no `token_embd.weight`. llama.cpp refuses it.':
    'Ein Sprachmodell hat kein `token_embd.weight`. llama.cpp lehnt es ab.',
  'Tensors belong to blocks beyond `block_count`. llama.cpp refuses the model.':
    'Tensoren gehören zu Blöcken jenseits von `block_count`. llama.cpp lehnt das Modell ab.',
  'Blocks have no tensors at all. llama.cpp refuses the model.':
    'Blöcke haben gar keine Tensoren. llama.cpp lehnt das Modell ab.',
  'The chat template loops over something that may be very long.':
    'Das Chat-Template durchläuft etwas, das sehr lang sein kann.',
  'The chat template behaves differently if a message contains certain words.':
    'Das Chat-Template verhält sich anders, wenn eine Nachricht bestimmte Wörter enthält.',
  'The chat template adds its own instructions to the prompt.':
    'Das Chat-Template fügt dem Prompt eigene Anweisungen hinzu.',
  "The chat template accesses Python's internals. In a program without a sandbox it can run code.":
    'Das Chat-Template greift auf Interna von Python zu. In einem Programm ohne Sandbox kann es Code ausführen.',
  'The chat template contains invisible characters.': 'Das Chat-Template enthält unsichtbare Zeichen.',
  'Braces or blocks of the chat template do not match.':
    'Klammern oder Blöcke des Chat-Templates passen nicht zusammen.',
  '`tokenizer.chat_templates` and the keys of the named templates do not agree.':
    '`tokenizer.chat_templates` und die Schlüssel der benannten Templates stimmen nicht überein.',
  'The chat template is nested very deeply.': 'Das Chat-Template ist sehr tief verschachtelt.',
  'The chat template compares the date, so it behaves differently from a certain day on.':
    'Das Chat-Template vergleicht das Datum und verhält sich von einem bestimmten Tag an anders.',
  'The chat template has a run of 200 blanks or a word of 200 letters: hidden or unreadable text.':
    'Das Chat-Template enthält 200 Leerzeichen in Folge oder ein Wort von 200 Buchstaben: versteckten oder unlesbaren Text.',
  'The chat template contains a link.': 'Das Chat-Template enthält einen Link.',
  'llama.cpp creates this tensor for the architecture and refuses the model without it.':
    'llama.cpp legt diesen Tensor für die Architektur an und lehnt das Modell ohne ihn ab.',
  'llama.cpp has no such tensor for the architecture and refuses the model.':
    'llama.cpp hat für die Architektur keinen solchen Tensor und lehnt das Modell ab.',
  'Tensors have other shapes than those that llama.cpp computes from the keys. It refuses the model. Tensors that differ alike are one finding, and so are those that depend on one missing key. A count that is missing counts as 0.':
    'Tensoren haben andere Formen als die, die llama.cpp aus den Schlüsseln berechnet. Es lehnt das Modell ab. Tensoren, die gleich abweichen, sind ein Befund, ebenso die, die von einem fehlenden Schlüssel abhängen. Eine fehlende Anzahl zählt als 0.',
  '`tokenizer.ggml.model` is missing. llama.cpp requires it, even if the value is none.':
    '`tokenizer.ggml.model` fehlt. llama.cpp verlangt ihn, selbst wenn der Wert none ist.',
  'llama.cpp does not support the kind of tokenizer and refuses the model.':
    'llama.cpp unterstützt die Art des Tokenizers nicht und lehnt das Modell ab.',
  'llama.cpp does not know the pre-tokenizer and refuses the model.':
    'llama.cpp kennt den Pre-Tokenizer nicht und lehnt das Modell ab.',
  'The file does not name a pre-tokenizer. llama.cpp splits text by its default, which may be wrong for the model.':
    'Die Datei nennt keinen Pre-Tokenizer. llama.cpp zerlegt Text nach seiner Vorgabe, die für das Modell falsch sein kann.',
  'The tokenizer has no tokens. llama.cpp refuses the model.':
    'Der Tokenizer hat keine Token. llama.cpp lehnt das Modell ab.',
  'The tokenizer needs merges and has none. llama.cpp refuses the model.':
    'Der Tokenizer braucht Merges und hat keine. llama.cpp lehnt das Modell ab.',
  'A list of the tokenizer has a type that llama.cpp does not read.':
    'Eine Liste des Tokenizers hat einen Typ, den llama.cpp nicht liest.',
  'A list of the tokenizer is shorter than the tokens. llama.cpp would read beyond its end.':
    'Eine Liste des Tokenizers ist kürzer als die Token. llama.cpp würde über ihr Ende hinaus lesen.',
  'A list of the tokenizer is longer than the tokens.': 'Eine Liste des Tokenizers ist länger als die Token.',
  'Two tokens have the same text. llama.cpp refuses the model.':
    'Zwei Token haben denselben Text. llama.cpp lehnt das Modell ab.',
  "A token's text is empty. Loaders generate a name for it.":
    'Der Text eines Tokens ist leer. Programme erzeugen dafür einen Namen.',
  "A token's type is not from 1 to 6.": 'Der Typ eines Tokens liegt nicht zwischen 1 und 6.',
  "A byte token's text is not of the form <0xHH>.": 'Der Text eines Byte-Tokens hat nicht die Form <0xHH>.',
  "A token's score is not finite.": 'Die Wertung eines Tokens ist nicht endlich.',
  'A merge does not consist of two pieces separated by a space.':
    'Ein Merge besteht nicht aus zwei Stücken, die ein Leerzeichen trennt.',
  "A special token's number is not less than the number of tokens. llama.cpp ignores it.":
    'Die Nummer eines besonderen Tokens ist nicht kleiner als die Zahl der Token. llama.cpp ignoriert sie.',
  "A special token's number is not u32. llama.cpp refuses the model.":
    'Die Nummer eines besonderen Tokens ist nicht u32. llama.cpp lehnt das Modell ab.',
  'The file requests a special token, but does not name it.':
    'Die Datei verlangt ein besonderes Token, nennt es aber nicht.',
  '`general.name` contains Phi-3, and llama.cpp changes four tokens of such models. One of them is missing, so llama.cpp refuses the model.':
    '`general.name` enthält Phi-3, und llama.cpp ändert vier Token solcher Modelle. Eines davon fehlt, darum lehnt llama.cpp das Modell ab.',
  "llama.cpp reads the separator's number under `seperator_token_id`, not with the specification's spelling.":
    'llama.cpp liest die Nummer des Trennzeichens unter `seperator_token_id`, nicht in der Schreibweise der Spezifikation.',
  '`tokenizer.huggingface.json` is not a JSON object.': '`tokenizer.huggingface.json` ist kein JSON-Objekt.',
  'The character table of a T5 tokenizer is shorter than its header states. llama.cpp refuses the model.':
    'Die Zeichentabelle eines T5-Tokenizers ist kürzer, als ihr Kopf angibt. llama.cpp lehnt das Modell ab.',
  'A file of a split model is not there.': 'Eine Datei eines geteilten Modells fehlt.',
  'A file of a split model has another place in the set by its keys than by its name. Loaders refuse the set.':
    'Eine Datei eines geteilten Modells hat nach ihren Schlüsseln einen anderen Platz im Satz als nach ihrem Namen. Programme lehnen den Satz ab.',
  'The keys of a file say that its set has another number of files than its name does. Loaders read it from the first file.':
    'Die Schlüssel einer Datei nennen eine andere Zahl von Dateien des Satzes als ihr Name. Programme lesen sie aus der ersten Datei.',
  'The files of a split model hold another number of tensors together than their keys say. Loaders refuse the set.':
    'Die Dateien eines geteilten Modells enthalten zusammen eine andere Zahl von Tensoren, als ihre Schlüssel sagen. Programme lehnen den Satz ab.',
  'A chat template does not compile, or fails with a short conversation. Programs that render it cannot chat.':
    'Ein Chat-Template lässt sich nicht übersetzen oder scheitert an einer kurzen Unterhaltung. Programme, die es verwenden, können nicht chatten.',
  'A chat template leaves messages of a conversation out of the prompt, so the model does not see them.':
    'Ein Chat-Template lässt Nachrichten einer Unterhaltung weg, so dass das Modell sie nicht sieht.',
  'A chat template is empty, or only a name. A known format is used instead, as llama.cpp does.':
    'Ein Chat-Template ist leer oder nur ein Name. Statt seiner wird ein bekanntes Format verwendet, wie in llama.cpp.',
  'The data of a tensor hold a float or a scale that is NaN or infinite. llama.cpp refuses it with `--check-tensors`.':
    'Die Daten eines Tensors enthalten eine Zahl oder Skalierung, die NaN oder unendlich ist. llama.cpp lehnt sie mit `--check-tensors` ab.',
  'A key differs by a letter or two from a standardized one. Readers do not look at it.':
    'Ein Schlüssel weicht um ein oder zwei Buchstaben von einem Standardschlüssel ab. Programme beachten ihn nicht.',
  "The engine of this package refuses the file at `load()`, before it reads weights (a hyper-parameter, a key of a projector, an adapter's scale or types, or the shape of a tensor), or, as a note, cannot run it although it may be right.":
    'Die Engine dieses Pakets lehnt die Datei bei `load()` ab, bevor sie Gewichte liest (wegen eines Hyperparameters, eines Schlüssels eines Projektors, der Skalierung oder der Typen eines Adapters, oder der Form eines Tensors), oder kann sie, als Hinweis, nicht ausführen, obwohl sie richtig sein kann.',
  '`audit()`: no standard conversation shows a text of the chat template. It may belong to a rare case, or be hidden.':
    '`audit()`: Keine übliche Unterhaltung zeigt einen Text des Chat-Templates. Er gehört vielleicht zu einem seltenen Fall oder ist versteckt.',
  '`audit()`: the chat template adds sentences of its own to every conversation, such as a default system message.':
    '`audit()`: Das Chat-Template fügt jeder Unterhaltung eigene Sätze hinzu, etwa eine Systemnachricht.',
  '`audit()`: a name or a description has characters that nobody sees.':
    '`audit()`: Ein Name oder eine Beschreibung hat Zeichen, die niemand sieht.',
  '`audit()`: the file does not say its license, who made it, or what it was made from.':
    '`audit()`: Die Datei nennt weder ihre Lizenz, noch wer sie gemacht hat oder woraus sie entstand.',
  '`audit()` with hashes: a file stores the same tensor data more than once.':
    '`audit()` mit Hashes: Eine Datei speichert dieselben Tensordaten mehr als einmal.',
  // What cures a fault
  'Convert the model again, or rewrite the file with `ggufscope convert`.':
    'Konvertieren Sie das Modell neu, oder schreiben Sie die Datei mit `ggufscope convert` neu.',
  'Rewrite the file with `ggufscope convert`.': 'Schreiben Sie die Datei mit `ggufscope convert` neu.',
  'On such a machine, nothing needs to be done. Otherwise convert the byte order with `ggufscope convert`.':
    'Auf einer solchen Maschine ist nichts zu tun. Sonst wandeln Sie die Bytefolge mit `ggufscope convert` um.',
  'Remove the key with `ggufscope set`.': 'Entfernen Sie den Schlüssel mit `ggufscope set`.',
  'Remove one of the two with `ggufscope set`.': 'Entfernen Sie einen der beiden mit `ggufscope set`.',
  'Rename the key.': 'Benennen Sie den Schlüssel um.',
  'Rename the key, if you defined it. Readers accept it.':
    'Benennen Sie den Schlüssel um, wenn er von Ihnen stammt. Programme nehmen ihn an.',
  'Store one flat array, and the lengths in another key.':
    'Speichern Sie ein flaches Array und die Längen in einem anderen Schlüssel.',
  'Set the key again with `ggufscope set`.': 'Setzen Sie den Schlüssel mit `ggufscope set` neu.',
  'Set the key again, in UTF-8.': 'Setzen Sie den Schlüssel neu, in UTF-8.',
  'Set the key again without it.': 'Setzen Sie den Schlüssel ohne dieses Zeichen neu.',
  'Set the key again: `ggufscope set` uses the standard type.':
    'Setzen Sie den Schlüssel neu: `ggufscope set` verwendet den Standardtyp.',
  'Write the key under its new name.': 'Schreiben Sie den Schlüssel unter seinem neuen Namen.',
  'Set it to one of these, or remove it.': 'Setzen Sie ihn auf einen dieser Werte, oder entfernen Sie ihn.',
  'Correct the count, or add the keys that it counts.':
    'Berichtigen Sie die Anzahl, oder ergänzen Sie die gezählten Schlüssel.',
  'Set it again, or remove it.': 'Setzen Sie ihn neu, oder entfernen Sie ihn.',
  'Rename the file if you publish it.': 'Benennen Sie die Datei um, wenn Sie sie veröffentlichen.',
  'Rename the file, or set the key.': 'Benennen Sie die Datei um, oder setzen Sie den Schlüssel.',
  'Split the whole model again with `ggufscope split`.':
    'Teilen Sie das ganze Modell mit `ggufscope split` neu.',
  'Give the file the name that matches its keys.':
    'Geben Sie der Datei den Namen, der zu ihren Schlüsseln passt.',
  'Set the key again in the type that the message names.':
    'Setzen Sie den Schlüssel neu, im Typ, den die Meldung nennt.',
  'Set the two keys.': 'Setzen Sie die beiden Schlüssel.',
  'Nothing needs to be done if that is intended. Otherwise set `adapter.lora.alpha`.':
    'Es ist nichts zu tun, wenn das so gewollt ist. Sonst setzen Sie `adapter.lora.alpha`.',
  'Convert the adapter again.': 'Konvertieren Sie den Adapter neu.',
  'Convert the adapter again, without that tensor.': 'Konvertieren Sie den Adapter neu, ohne diesen Tensor.',
  'Make it again with llama-imatrix.': 'Erzeugen Sie sie mit llama-imatrix neu.',
  'Make the control vector again.': 'Erzeugen Sie den Steuervektor neu.',
  'Set `controlvector.model_hint`.': 'Setzen Sie `controlvector.model_hint`.',
  'Convert the model again.': 'Konvertieren Sie das Modell neu.',
  'Set it as u32, or remove it: 32 is the default.':
    'Setzen Sie sie als u32, oder entfernen Sie sie: 32 ist der Vorgabewert.',
  'Rewrite the file with an alignment of 32.': 'Schreiben Sie die Datei mit einer Ausrichtung von 32 neu.',
  'Rename the tensor. All names that llama.cpp uses are shorter.':
    'Benennen Sie den Tensor um. Alle Namen, die llama.cpp verwendet, sind kürzer.',
  'ggufscope opens such files. For llama.cpp, convert the model with shorter names and at most 4 dimensions.':
    'ggufscope öffnet solche Dateien. Für llama.cpp wandeln Sie das Modell mit kürzeren Namen und höchstens 4 Dimensionen um.',
  'Join dimensions, and keep the shape in a key.':
    'Fassen Sie Dimensionen zusammen, und bewahren Sie die Form in einem Schlüssel auf.',
  'Nothing: ggml reads it.': 'Nichts: ggml liest ihn.',
  'Convert the model again, if the tensor should have data.':
    'Konvertieren Sie das Modell neu, wenn der Tensor Daten haben soll.',
  'The file is damaged: fetch or convert it again.':
    'Die Datei ist beschädigt: Holen oder konvertieren Sie sie neu.',
  'Use the fork that has the type, or quantize the original model to a type of ggml.':
    'Verwenden Sie den Fork, der den Typ hat, oder quantisieren Sie das Originalmodell in einen Typ von ggml.',
  'Convert the original model again, or convert the tensor to F32.':
    'Konvertieren Sie das Originalmodell neu, oder wandeln Sie den Tensor in F32 um.',
  'Quantize the original model again.': 'Quantisieren Sie das Originalmodell neu.',
  'Quantize the tensor to a type with smaller blocks.':
    'Quantisieren Sie den Tensor in einen Typ mit kleineren Blöcken.',
  'Fetch the file again: a download ended early, or the file is damaged.':
    'Holen Sie die Datei noch einmal: Ein Download brach vorzeitig ab, oder die Datei ist beschädigt.',
  'Nothing needs to be done. You can rewrite the file without them.':
    'Es ist nichts zu tun. Sie können die Datei ohne sie neu schreiben.',
  'Nothing needs to be done: readers skip it.': 'Es ist nichts zu tun: Programme überspringen sie.',
  "Set the key to the model's architecture.": 'Setzen Sie den Schlüssel auf die Architektur des Modells.',
  'Nothing: llama.cpp itself uses such names.': 'Nichts: llama.cpp verwendet selbst solche Namen.',
  'Keep the file as it is, if it is for such a program.':
    'Lassen Sie die Datei, wie sie ist, wenn sie für ein solches Programm ist.',
  'Correct `general.architecture` if it is mistyped. A newer llama.cpp may have the architecture.':
    'Berichtigen Sie `general.architecture`, wenn es falsch geschrieben ist. Ein neueres llama.cpp hat die Architektur vielleicht.',
  'Convert the model again, with the byte tokens `<0x00>` to `<0xFF>`.':
    'Konvertieren Sie das Modell neu, mit den Byte-Token `<0x00>` bis `<0xFF>`.',
  'Set `general.architecture` to the name that its keys begin with.':
    'Setzen Sie `general.architecture` auf den Namen, mit dem ihre Schlüssel beginnen.',
  'Add the key, or convert the model again. llama.cpp may have a default.':
    'Ergänzen Sie den Schlüssel, oder konvertieren Sie das Modell neu. llama.cpp hat vielleicht einen Vorgabewert.',
  'Correct the list or `block_count`.': 'Berichtigen Sie die Liste oder `block_count`.',
  'Set it to the number of blocks.': 'Setzen Sie ihn auf die Zahl der Blöcke.',
  'Correct `expert_count` and `expert_used_count`.':
    'Berichtigen Sie `expert_count` und `expert_used_count`.',
  'Check the head counts against the original configuration.':
    'Vergleichen Sie die Zahlen der Köpfe mit der ursprünglichen Konfiguration.',
  'Set `rope.dimension_count` to the width of a head.':
    'Setzen Sie `rope.dimension_count` auf die Breite eines Kopfes.',
  'Set it to none, linear, yarn or longrope.': 'Setzen Sie ihn auf none, linear, yarn oder longrope.',
  'Check which program wrote the file.': 'Prüfen Sie, welches Programm die Datei geschrieben hat.',
  'Set `general.quantization_version` to 2.': 'Setzen Sie `general.quantization_version` auf 2.',
  'Nothing needs to be done. You can set the right number.':
    'Es ist nichts zu tun. Sie können die richtige Zahl setzen.',
  'Set the right number. It is used only for display.':
    'Setzen Sie die richtige Zahl. Sie dient nur der Anzeige.',
  'Convert the projector again.': 'Konvertieren Sie den Projektor neu.',
  'Nothing: a newer llama.cpp may read it.': 'Nichts: Ein neueres llama.cpp liest ihn vielleicht.',
  'Add the key with the value of the original configuration, or convert the model again.':
    'Ergänzen Sie den Schlüssel mit dem Wert der ursprünglichen Konfiguration, oder konvertieren Sie das Modell neu.',
  'Correct `block_count`, or remove the tensors.':
    'Berichtigen Sie `block_count`, oder entfernen Sie die Tensoren.',
  'Convert the model again; if it is a shard, open all shards.':
    'Konvertieren Sie das Modell neu; wenn es ein Teil ist, öffnen Sie alle Teile.',
  'Read the template before you use it.': 'Lesen Sie das Template, bevor Sie es verwenden.',
  'Read what it adds; replace the template if you do not want it.':
    'Lesen Sie, was es hinzufügt; ersetzen Sie das Template, wenn Sie das nicht wollen.',
  'Do not use the template.': 'Verwenden Sie das Template nicht.',
  'Read the template with these characters shown; replace it.':
    'Lesen Sie das Template mit sichtbaren Zeichen; ersetzen Sie es.',
  'Use the template of the original model.': 'Verwenden Sie das Template des Originalmodells.',
  'Correct the list, or add the templates that it names.':
    'Berichtigen Sie die Liste, oder ergänzen Sie die genannten Templates.',
  'Do not use the template until you know why.':
    'Verwenden Sie das Template nicht, bevor Sie den Grund kennen.',
  'Remove the tensor, or convert the model with the right converter.':
    'Entfernen Sie den Tensor, oder konvertieren Sie das Modell mit dem richtigen Programm.',
  'Correct the key, or convert the model again.':
    'Berichtigen Sie den Schlüssel, oder konvertieren Sie das Modell neu.',
  "Set it to the tokenizer's kind, or to none.": 'Setzen Sie ihn auf die Art des Tokenizers oder auf none.',
  'Set it to a kind that llama.cpp has.': 'Setzen Sie ihn auf eine Art, die llama.cpp hat.',
  'Set it to the name that llama.cpp has for this model family.':
    'Setzen Sie ihn auf den Namen, den llama.cpp für diese Modellfamilie hat.',
  'Set `tokenizer.ggml.pre`.': 'Setzen Sie `tokenizer.ggml.pre`.',
  'Convert the model again. Readers ignore the rest.':
    'Konvertieren Sie das Modell neu. Programme ignorieren den Rest.',
  'Convert the model again with unique names for unused tokens.':
    'Konvertieren Sie das Modell neu, mit eindeutigen Namen für unbenutzte Token.',
  "The file is in one of ggml's formats from before GGUF. Today's loaders refuse it.":
    'Die Datei hat eines der Formate von ggml aus der Zeit vor GGUF. Heutige Lader weisen sie ab.',
  "Write it as GGUF with `ggufscope convert`, or with the viewer's panel Convert.":
    'Schreiben Sie sie mit `ggufscope convert` oder im Bereich Umwandeln des Viewers als GGUF.',
  'You need not do anything.': 'Sie müssen nichts tun.',
  'Set the right number, or remove the key.':
    'Setzen Sie die richtige Nummer, oder entfernen Sie den Schlüssel.',
  'Set the key again as u32.': 'Setzen Sie den Schlüssel neu, als u32.',
  "Set the token's number, or remove the flag.":
    'Setzen Sie die Nummer des Tokens, oder entfernen Sie die Einstellung.',
  'Change `general.name`, or convert the model again.':
    'Ändern Sie `general.name`, oder konvertieren Sie das Modell neu.',
  "Also write the key in llama.cpp's spelling.":
    'Schreiben Sie den Schlüssel auch in der Schreibweise von llama.cpp.',
  'Set the whole text of tokenizer.json, or remove the key.':
    'Setzen Sie den ganzen Text von tokenizer.json, oder entfernen Sie den Schlüssel.',
  'Put all files into one folder, or name the others with `--shard`.':
    'Legen Sie alle Dateien in einen Ordner, oder nennen Sie die anderen mit `--shard`.',
  'Give the file its own name, or split the model again with `ggufscope split`.':
    'Geben Sie der Datei ihren eigenen Namen, oder teilen Sie das Modell mit `ggufscope split` neu.',
  'Split the model again with `ggufscope split`, or set `split.count`.':
    'Teilen Sie das Modell mit `ggufscope split` neu, oder setzen Sie `split.count`.',
  'Look for a file of another version of the model, or split it again with `ggufscope split`.':
    'Suchen Sie nach einer Datei einer anderen Version des Modells, oder teilen Sie es mit `ggufscope split` neu.',
  'Correct it at the line and column: `ggufscope set FILE --file tokenizer.chat_template=PATH`.':
    'Berichtigen Sie es an der Zeile und Spalte: `ggufscope set DATEI --file tokenizer.chat_template=PFAD`.',
  'Look for a field that is spelled wrong, or for another template language.':
    'Suchen Sie nach einem falsch geschriebenen Feld oder nach einer anderen Template-Sprache.',
  'Set `tokenizer.chat_template` if it is another format.':
    'Setzen Sie `tokenizer.chat_template`, wenn es ein anderes Format ist.',
  'Convert or download the model again.':
    'Konvertieren Sie das Modell neu, oder laden Sie es noch einmal herunter.',
  'Rename the key to the one that the finding names, with `ggufscope set --rename OLD=NEW`.':
    'Benennen Sie den Schlüssel mit `ggufscope set --rename ALT=NEU` in den genannten um.',
  'Correct the key or the tensor that the message names, or convert the model again. A note needs no correction: another program may run the file.':
    'Berichtigen Sie den Schlüssel oder den Tensor, den die Meldung nennt, oder konvertieren Sie das Modell neu. Nach einem Hinweis ist nichts zu berichtigen: Ein anderes Programm kann die Datei vielleicht ausführen.',
  'Read the text and the condition around it.': 'Lesen Sie den Text und die Bedingung um ihn herum.',
  'Check that users should have it.': 'Prüfen Sie, ob Benutzer es bekommen sollen.',
  'Set the key without them.': 'Setzen Sie den Schlüssel ohne sie.',
  'Set one of the keys that the finding names, with `ggufscope set`.':
    'Setzen Sie einen der genannten Schlüssel mit `ggufscope set`.',
  'If the tensors are tied, leave one out: most loaders use the embeddings as output if there is none.':
    'Wenn die Tensoren gekoppelt sind, lassen Sie einen weg: Die meisten Programme verwenden die Embeddings als Ausgabe, wenn es keine gibt.',
  '`audit()` with hashes: a file has none, because it is damaged. Another finding says more.':
    '`audit()` mit Hashes: Eine Datei hat keinen, weil sie beschädigt ist. Ein anderer Befund sagt mehr.',
  'Download or convert the file again.': 'Laden oder konvertieren Sie die Datei noch einmal.',
}
