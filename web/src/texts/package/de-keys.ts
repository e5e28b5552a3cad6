// What the package says, in German: meanings and units of keys. The English text is the key; see de.ts.
export default {
  URL: 'URL',
  DOI: 'DOI',
  UUID: 'UUID',
  'ISO 639': 'ISO 639',
  JSON: 'JSON',
  Jinja: 'Jinja',
  byte: 'Byte',
  row: 'Zeile',
  element: 'Element',
  token: 'Token',
  tensor: 'Tensor',
  shard: 'Teil',
  shards: 'Teilen',
  bytes: 'Byte',
  'Digital object identifier of the source model.': 'Digital Object Identifier des Ausgangsmodells.',
  'Unique identifier of the source model.': 'Eindeutige Kennung des Ausgangsmodells.',
  models: 'Modelle',
  'Digital object identifier of a parent model.': 'Digital Object Identifier eines Elternmodells.',
  'Unique identifier of a parent model.': 'Eindeutige Kennung eines Elternmodells.',
  'How many data sets are described.': 'Wie viele Datensätze beschrieben sind.',
  'data sets': 'Datensätze',
  'Name of a data set.': 'Name eines Datensatzes.',
  'Author of a data set.': 'Autor eines Datensatzes.',
  'Version of a data set.': 'Version eines Datensatzes.',
  'Publisher of a data set.': 'Herausgeber eines Datensatzes.',
  'Free text about a data set.': 'Freier Text über einen Datensatz.',
  'Home page of a data set.': 'Webseite eines Datensatzes.',
  'Digital object identifier of a data set.': 'Digital Object Identifier eines Datensatzes.',
  'Unique identifier of a data set.': 'Eindeutige Kennung eines Datensatzes.',
  'Repository of a data set.': 'Repository eines Datensatzes.',
  tokens: 'Token',
  'Recommended: chance that the top choices are excluded.':
    'Empfohlen: Wahrscheinlichkeit, mit der die besten Kandidaten ausgeschlossen werden.',
  'Recommended: probability above which a choice can be excluded.':
    'Empfohlen: Wahrscheinlichkeit, ab der ein Kandidat ausgeschlossen werden kann.',
  'Recommended: how far back repetition is penalized.':
    'Empfohlen: wie weit zurück Wiederholungen bestraft werden.',
  'Recommended version of Mirostat sampling; 0 is off.':
    'Empfohlene Version des Mirostat-Samplings; 0 heißt aus.',
  'Recommended target surprise of Mirostat.': 'Empfohlene Zielüberraschung von Mirostat.',
  'Recommended learning rate of Mirostat.': 'Empfohlene Lernrate von Mirostat.',
  'Names of the tensors that general.tensor_extra describes.':
    'Namen der Tensoren, die general.tensor_extra beschreibt.',
  'For each of them: whether its products take 4-bit activations.':
    'Für jeden von ihnen: ob seine Produkte 4-Bit-Aktivierungen nehmen.',
  elements: 'Elemente',
  'Width of the inputs that each layer gets of its own.':
    'Breite der Eingaben, die jede Schicht für sich bekommt.',
  'Width of the input features.': 'Breite der Eingabemerkmale.',
  blocks: 'Blöcke',
  'Width of the feed-forward layer of a chunk expert.':
    'Breite der Feed-Forward-Schicht eines Chunk-Experten.',
  experts: 'Experten',
  groups: 'Gruppen',
  'How many experts form a group.': 'Wie viele Experten eine Gruppe bilden.',
  "Factor of the grouped experts' output.": 'Faktor der Ausgabe der gruppierten Experten.',
  'Every n-th block has experts.': 'Jeder n-te Block hat Experten.',
  'Width of the latent space that the experts work in.':
    'Breite des latenten Raums, in dem die Experten arbeiten.',
  'Distance between blocks with experts.': 'Abstand zwischen Blöcken mit Experten.',
  'How many blocks take in features of the image encoder.':
    'Wie viele Blöcke Merkmale des Bild-Encoders aufnehmen.',
  'token id': 'Token-ID',
  'Router scores are squashed by tanh to stay within this.':
    'Die Werte des Routers werden durch tanh auf diesen Bereich begrenzt.',
  'Whether the norms stand after attention and feed-forward.':
    'Ob die Normierungen nach Attention und Feed-Forward stehen.',
  'RWKV: every n blocks the hidden state is halved.':
    'RWKV: Alle n Blöcke wird der verborgene Zustand halbiert.',
  'RWKV: width of the time-mix interpolation.': 'RWKV: Breite der Interpolation der Zeitmischung.',
  'RWKV: width of the time-decay interpolation.': 'RWKV: Breite der Interpolation des Zeitabfalls.',
  'RWKV: how many token shifts a block has.': 'RWKV: wie viele Token-Verschiebungen ein Block hat.',
  'Cut below which feed-forward activations become zero, per block.':
    'Grenze je Block, unter der Feed-Forward-Aktivierungen null werden.',
  'standard deviations': 'Standardabweichungen',
  'Gemma 3n: which of the parallel hidden states is computed.':
    'Gemma 3n: welcher der parallelen verborgenen Zustände berechnet wird.',
  'Gemma 3n: how many parallel hidden states there are.':
    'Gemma 3n: wie viele parallele verborgene Zustände es gibt.',
  "Clamp of the experts' SwiGLU.": 'Begrenzung im SwiGLU der Experten.',
  "Clamp of the shared experts' SwiGLU.": 'Begrenzung im SwiGLU der geteilten Experten.',
  'Input width of dense layer 2 after pooling.': 'Eingabebreite der dichten Schicht 2 nach dem Pooling.',
  'Output width of dense layer 2 after pooling.': 'Ausgabebreite der dichten Schicht 2 nach dem Pooling.',
  'Input width of dense layer 3 after pooling.': 'Eingabebreite der dichten Schicht 3 nach dem Pooling.',
  'Output width of dense layer 3 after pooling.': 'Ausgabebreite der dichten Schicht 3 nach dem Pooling.',
  'RWKV: version of the architecture.': 'RWKV: Version der Architektur.',
  'Width that the experts compute in, where the hidden state is projected first.':
    'Breite, in der die Experten rechnen, wenn der verborgene Zustand zuvor projiziert wird.',
  "For each block: which of the image encoder's features are added, or -1.":
    'Für jeden Block: welche Merkmale des Bild-Encoders addiert werden, oder -1.',
  'How often all blocks run, one pass after the other.':
    'Wie oft alle Blöcke nacheinander durchlaufen werden.',
  'Whether the last norm is left out between the passes.':
    'Ob die letzte Normierung zwischen den Durchläufen entfällt.',
  'First blocks whose experts are chosen by the token id.':
    'Die ersten Blöcke, deren Experten nach der Token-ID gewählt werden.',
  'Activation of the feed-forward layers.': 'Aktivierung der Feed-Forward-Schichten.',
  'Blocks of the target model whose hidden states a draft model reads.':
    'Blöcke des Zielmodells, deren verborgene Zustände ein Entwurfsmodell liest.',
  "Width of the target model's hidden state.": 'Breite des verborgenen Zustands des Zielmodells.',
  'How many tokens a draft model proposes at once.':
    'Wie viele Token ein Entwurfsmodell auf einmal vorschlägt.',
  "Width of a draft model's convolution.": 'Breite der Faltung eines Entwurfsmodells.',
  "Channels in a group of a draft model's convolution.":
    'Kanäle einer Gruppe der Faltung eines Entwurfsmodells.',
  "Rank of the matrices that score a draft model's candidates.":
    'Rang der Matrizen, die die Kandidaten eines Entwurfsmodells bewerten.',
  'Candidates that are scored for each drafted token.':
    'Kandidaten, die für jedes vorgeschlagene Token bewertet werden.',
  'Whether a draft begins at the position of the last accepted token.':
    'Ob ein Entwurf an der Position des letzten angenommenen Tokens beginnt.',
  'Whether a draft model estimates if its tokens are accepted.':
    'Ob ein Entwurfsmodell schätzt, ob seine Token angenommen werden.',
  'Whether a draft model adds the normalized input to its residual stream.':
    'Ob ein Entwurfsmodell die normierte Eingabe zu seinem Residualstrom addiert.',
  "Whether a draft model normalizes the target's hidden states before their projection.":
    'Ob ein Entwurfsmodell die verborgenen Zustände des Zielmodells vor der Projektion normiert.',
  'How a decision model scores its options: laya, openjev, lev.':
    'Wie ein Entscheidungsmodell seine Optionen bewertet: laya, openjev, lev.',
  'Blocks of the decision head.': 'Blöcke des Entscheidungskopfs.',
  'Blocks of the part that routes between decision heads.':
    'Blöcke des Teils, der zwischen Entscheidungsköpfen wählt.',
  'Attention heads of the decision head.': 'Attention-Köpfe des Entscheidungskopfs.',
  heads: 'Köpfe',
  'Most tokens that the decision head reads.': 'Höchstzahl der Token, die der Entscheidungskopf liest.',
  'Temperature of the probabilities for a kind of question.':
    'Temperatur der Wahrscheinlichkeiten für eine Art von Frage.',
  'The same, for a number of options.': 'Dasselbe, für eine Anzahl von Optionen.',
  'Added to the logit of a level of a score with so many levels.':
    'Wird zum Logit einer Stufe addiert, wenn eine Skala so viele Stufen hat.',
  'Blocks of each of the two stacks of a hierarchical reasoning model.':
    'Blöcke jedes der zwei Stapel eines hierarchischen Modells.',
  'How often the slow stack runs.': 'Wie oft der langsame Stapel läuft.',
  'How often the fast stack runs within a cycle of the slow one.':
    'Wie oft der schnelle Stapel in einem Zyklus des langsamen läuft.',
  "Whether the prompt's tokens attend to each other in both directions.":
    'Ob die Token des Prompts einander in beide Richtungen beachten.',
  'After how many blocks the residual stream is kept for attention over depth.':
    'Nach wie vielen Blöcken der Residualstrom für die Attention über die Tiefe behalten wird.',
  'Beta of the activation SiTU.': 'Beta der Aktivierung SiTU.',
  'Beta of the linear part of SiTU.': 'Beta des linearen Teils von SiTU.',
  'Blocks with embeddings of their own for n-grams of tokens.':
    'Blöcke mit eigenen Embeddings für n-Gramme von Token.',
  'Longest n-gram of the per-layer embeddings.': 'Längstes n-Gramm der Embeddings je Schicht.',
  'Hash functions for each length of n-gram.': 'Hash-Funktionen für jede Länge von n-Grammen.',
  'Width of the convolution over per-layer embeddings.': 'Breite der Faltung über die Embeddings je Schicht.',
  'Factors of the hash of n-grams.': 'Faktoren des Hashs von n-Grammen.',
  "Where each hash function's rows begin in the table.":
    'Wo in der Tabelle die Zeilen jeder Hash-Funktion beginnen.',
  rows: 'Zeilen',
  'Rows that each hash function addresses.': 'Zeilen, die jede Hash-Funktion erreicht.',
  'Token that ends an n-gram.': 'Token, das ein n-Gramm beendet.',
  'Token that stands for an image in n-grams.': 'Token, das in n-Grammen für ein Bild steht.',
  'Parallel residual streams.': 'Parallele Residualströme.',
  streams: 'Ströme',
  'Iterations that normalize the matrix which mixes the streams.':
    'Iterationen, die die Matrix zur Mischung der Ströme normieren.',
  "Added where the streams' weights are normalized.":
    'Wird addiert, wo die Gewichte der Ströme normiert werden.',
  'Factor of the gate after a part of a block; 2 when absent.':
    'Faktor des Gatters nach einem Teil eines Blocks; 2, wenn er fehlt.',
  "Rank of the projection that computes the streams' weights; full when absent.":
    'Rang der Projektion, die die Gewichte der Ströme berechnet; voll, wenn er fehlt.',
  'Largest slope of the ALiBi position bias (MPT).': 'Größte Steigung der Positionsverschiebung ALiBi (MPT).',
  'Queries, keys and values are clamped to plus or minus this (MPT).':
    'Queries, Keys und Values werden auf plus oder minus diesen Wert begrenzt (MPT).',
  'Falcon: whether attention has a norm of its own.': 'Falcon: ob die Attention eine eigene Normierung hat.',
  'Added to the variance in group norms.': 'Wird in Gruppennormierungen zur Varianz addiert.',
  'Groups of the group norms.': 'Gruppen der Gruppennormierungen.',
  'RWKV v7: rank of the decay.': 'RWKV v7: Rang des Zerfalls.',
  'RWKV v7: rank of the in-context learning rate.': 'RWKV v7: Rang der Lernrate im Kontext.',
  'RWKV v7: rank of the value residual mix.': 'RWKV v7: Rang der Mischung der Value-Residuen.',
  'RWKV v7: rank of the gate.': 'RWKV v7: Rang des Gatters.',
  buckets: 'Klassen',
  'Factor of the attention output.': 'Faktor der Ausgabe der Attention.',
  'Position from which attention temperature grows.': 'Position, ab der die Temperatur der Attention wächst.',
  'Growth of attention temperature with position.': 'Wachstum der Attention-Temperatur mit der Position.',
  'Heads of the indexer that picks keys for sparse attention.':
    'Köpfe des Indexers, der Keys für dünn besetzte Attention auswählt.',
  "Width of the indexer's keys.": 'Breite der Keys des Indexers.',
  'How many keys the indexer picks.': 'Wie viele Keys der Indexer auswählt.',
  'Positions in a block that the indexer selects as a whole.':
    'Positionen eines Blocks, den der Indexer als Ganzes auswählt.',
  positions: 'Positionen',
  'Last blocks of positions that are always attended to.':
    'Letzte Blöcke von Positionen, die immer beachtet werden.',
  'Which blocks have an indexer of their own.': 'Welche Blöcke einen eigenen Indexer haben.',
  'Positions whose index keys are pooled to one.':
    'Positionen, deren Index-Keys zu einem zusammengefasst werden.',
  'Whether the last, incomplete pool is always selected.':
    'Ob der letzte, unvollständige Pool immer ausgewählt wird.',
  'Groups of heads that the output projection compresses apart.':
    'Gruppen von Köpfen, die die Ausgabeprojektion getrennt komprimiert.',
  'Rank of the compressed attention output.': 'Rang der komprimierten Attention-Ausgabe.',
  'Factor of the values.': 'Faktor der Values.',
  'For each block: how many positions are compressed to one key; 0 is none.':
    'Für jeden Block: wie viele Positionen zu einem Key komprimiert werden; 0 heißt keine.',
  'Base frequency of RoPE for compressed keys.': 'Grundfrequenz von RoPE für komprimierte Keys.',
  'Width of an uncompressed key of latent attention, in windowed blocks.':
    'Breite eines unkomprimierten Keys der latenten Attention, in Blöcken mit Fenster.',
  'Width of an uncompressed value of latent attention, in windowed blocks.':
    'Breite eines unkomprimierten Values der latenten Attention, in Blöcken mit Fenster.',
  'Rank of the compressed keys and values, in windowed blocks.':
    'Rang der komprimierten Keys und Values, in Blöcken mit Fenster.',
  'Which blocks are recurrent instead of attending.':
    'Welche Blöcke rekurrent sind statt Attention zu haben.',
  'Which blocks rotate queries and keys by their position.':
    'Welche Blöcke Queries und Keys nach ihrer Position drehen.',
  'Experts that compute the values.': 'Experten, die die Values berechnen.',
  'Value experts that a token uses.': 'Value-Experten, die ein Token benutzt.',
  'Alpha of the NTK-aware stretching.': 'Alpha der NTK-bewussten Dehnung.',
  'YaRN: multiplier of the logarithmic attention factor.':
    'YaRN: Faktor des logarithmischen Attention-Faktors.',
  'YaRN: mix of interpolated and original frequencies.':
    'YaRN: Mischung aus interpolierten und ursprünglichen Frequenzen.',
  'YaRN: factor of the attention scores.': 'YaRN: Faktor der Attention-Werte.',
  'YaRN: frequencies above are left as they are.': 'YaRN: Frequenzen darüber bleiben, wie sie sind.',
  rotations: 'Umdrehungen',
  'YaRN: frequencies below are stretched in full.': 'YaRN: Frequenzen darunter werden ganz gedehnt.',
  'Whether YaRN rounds the dimensions between which it blends.':
    'Ob YaRN die Dimensionen rundet, zwischen denen es überblendet.',
  "Order of the axes in the sections of RoPE's dimensions.":
    'Reihenfolge der Achsen in den Abschnitten der RoPE-Dimensionen.',
  'Whether time step, B and C are normalized.': 'Ob Zeitschritt, B und C normiert werden.',
  'Head width of Kimi delta attention.': 'Kopfbreite der Kimi-Delta-Attention.',
  'Whether the decay of Kimi delta attention has a lower bound.':
    'Ob der Zerfall der Kimi-Delta-Attention eine untere Grenze hat.',
  'That lower bound, as a logarithm.': 'Diese untere Grenze, als Logarithmus.',
  'Width of the posnet of an audio decoder.': 'Breite des Posnets eines Audio-Decoders.',
  'Blocks of the posnet.': 'Blöcke des Posnets.',
  'Width of the ConvNeXt part of an audio decoder.': 'Breite des ConvNeXt-Teils eines Audio-Decoders.',
  'Blocks of the ConvNeXt part.': 'Blöcke des ConvNeXt-Teils.',
  "Labels of the classifier's outputs.": 'Bezeichnungen der Ausgaben des Klassifikators.',
  "How the classifier pools the tokens, by llama.cpp's numbers.":
    'Wie der Klassifikator die Token zusammenfasst, nach llama.cpps Nummern.',
  "Activation of the classifier's dense layer.": 'Aktivierung der dichten Schicht des Klassifikators.',
  'How many tokens a short convolution remembers.': 'An wie viele Token sich eine kurze Faltung erinnert.',
  'How many adapters the file embeds.': 'Wie viele Adapter die Datei enthält.',
  adapters: 'Adapter',
  'Rank of the embedded adapters.': 'Rang der eingebetteten Adapter.',
  "Control tokens that select one of the file's adapters.":
    'Steuertoken, die einen der Adapter der Datei auswählen.',
  'Tokens that are embedded instead of the control tokens.':
    'Token, die statt der Steuertoken eingebettet werden.',
  'Factor of the scores that select an adapter.': 'Faktor der Werte, die einen Adapter auswählen.',
  'Longest input of the encoder.': 'Längste Eingabe des Encoders.',
  frames: 'Frames',
  "Width of the encoder's hidden state.": 'Breite des verborgenen Zustands des Encoders.',
  'Blocks of the encoder.': 'Blöcke des Encoders.',
  'Mel bands of the audio input.': 'Mel-Bänder der Audio-Eingabe.',
  bands: 'Bänder',
  'Attention heads of the encoder.': 'Attention-Köpfe des Encoders.',
  'Longest output of the decoder.': 'Längste Ausgabe des Decoders.',
  "Width of the decoder's hidden state.": 'Breite des verborgenen Zustands des Decoders.',
  'Blocks of the decoder.': 'Blöcke des Decoders.',
  'Attention heads of the decoder.': 'Attention-Köpfe des Decoders.',
  'Before the text ahead of a gap (deprecated).': 'Vor dem Text vor einer Lücke (veraltet).',
  'Before the text behind a gap (deprecated).': 'Vor dem Text nach einer Lücke (veraltet).',
  'Before the text that fills a gap (deprecated).': 'Vor dem Text, der eine Lücke füllt (veraltet).',
  'Tokens that are never generated.': 'Token, die nie erzeugt werden.',
  'Whether text is lowercased first.': 'Ob Text zuerst in Kleinbuchstaben umgewandelt wird.',
  'Whether accents are removed first.': 'Ob Akzente zuerst entfernt werden.',
  "Whether texts are normalized to Unicode's form C.": 'Ob Texte in Unicodes Form C normalisiert werden.',
  'The RWKV World vocabulary as text.': 'Das Vokabular von RWKV World als Text.',
  'What the adapter was trained for.': 'Wofür der Adapter trainiert wurde.',
  'Text to put before prompts with this adapter.': 'Text, der mit diesem Adapter vor Prompts gestellt wird.',
  'Tokens that switch the adapter on.': 'Token, die den Adapter einschalten.',
  'How many chunks of text were evaluated.': 'Wie viele Textstücke ausgewertet wurden.',
  chunks: 'Stücke',
  'Length of a chunk.': 'Länge eines Stücks.',
  'Texts that were evaluated.': 'Texte, die ausgewertet wurden.',
  files: 'Dateien',
  tensors: 'Tensoren',
  'Architecture that the control vector was made for.':
    'Architektur, für die der Steuervektor gemacht wurde.',
  'How many blocks the control vector covers.': 'Wie viele Blöcke der Steuervektor umfasst.',
  'Shape that a tensor had before ComfyUI-GGUF stored it as rows of 256, slowest dimension first.':
    'Form, die ein Tensor hatte, bevor ComfyUI-GGUF ihn in Zeilen zu 256 speicherte, langsamste Dimension zuerst.',
  'Whether logits are shifted by one position, as in causal models.':
    'Ob Logits um eine Position verschoben werden, wie in kausalen Modellen.',
  'Slope of the xIELU activation above zero, per block.':
    'Steigung der Aktivierung xIELU über null, je Block.',
  'Slope of the xIELU activation below zero, per block.':
    'Steigung der Aktivierung xIELU unter null, je Block.',
  'Beta of the xIELU activation, per block.': 'Beta der Aktivierung xIELU, je Block.',
  'Epsilon of the xIELU activation, per block.': 'Epsilon der Aktivierung xIELU, je Block.',
  'Kind of projector between encoder and language model.':
    'Art des Projektors zwischen Encoder und Sprachmodell.',
  'Whether the file has an image encoder.': 'Ob die Datei einen Bild-Encoder hat.',
  'Whether the file has an audio encoder.': 'Ob die Datei einen Audio-Encoder hat.',
  'Whether the file has a text encoder.': 'Ob die Datei einen Text-Encoder hat.',
  'Whether the file has a LLaVA projector.': 'Ob die Datei einen LLaVA-Projektor hat.',
  "Whether the encoder's activation is GELU.": 'Ob die Aktivierung des Encoders GELU ist.',
  "Whether the encoder's activation is SiLU.": 'Ob die Aktivierung des Encoders SiLU ist.',
  'Kind of projector of the image encoder.': 'Art des Projektors des Bild-Encoders.',
  'Side of the image that the encoder takes.': 'Seitenlänge des Bildes, das der Encoder nimmt.',
  pixels: 'Pixel',
  'Fewest pixels of an image.': 'Kleinste Zahl der Pixel eines Bildes.',
  'Most pixels of an image.': 'Größte Zahl der Pixel eines Bildes.',
  'Fewest tiles that an image is cut into.': 'Kleinste Zahl der Kacheln, in die ein Bild zerlegt wird.',
  tiles: 'Kacheln',
  'Most tiles that an image is cut into.': 'Größte Zahl der Kacheln, in die ein Bild zerlegt wird.',
  'Side of the image before cutting.': 'Seitenlänge des Bildes vor dem Zerlegen.',
  'Side of a patch.': 'Seitenlänge eines Patches.',
  "Width of the image encoder's hidden state.": 'Breite des verborgenen Zustands des Bild-Encoders.',
  "Width of the image encoder's feed-forward layer.": 'Breite der Feed-Forward-Schicht des Bild-Encoders.',
  'Width of the projected image features.': 'Breite der projizierten Bildmerkmale.',
  'Blocks of the image encoder.': 'Blöcke des Bild-Encoders.',
  'Mean of the red, green and blue values, subtracted first.':
    'Mittelwert der Rot-, Grün- und Blauwerte, der zuerst abgezogen wird.',
  'Standard deviation of the colours, divided by first.':
    'Standardabweichung der Farben, durch die zuerst geteilt wird.',
  'How many patches a side are merged into one.': 'Wie viele Patches je Seite zu einem verschmolzen werden.',
  patches: 'Patches',
  'Every n-th block of the image encoder has full attention.':
    'Jeder n-te Block des Bild-Encoders hat volle Attention.',
  'Blocks of the image encoder with full attention.': 'Blöcke des Bild-Encoders mit voller Attention.',
  'Which blocks of the image encoder feed the language model directly.':
    'Welche Blöcke des Bild-Encoders das Sprachmodell direkt speisen.',
  "Window of the image encoder's attention.": 'Fenster der Attention des Bild-Encoders.',
  'Attention heads of the image encoder.': 'Attention-Köpfe des Bild-Encoders.',
  "Added to the variance in the image encoder's norms.":
    'Wird in den Normierungen des Bild-Encoders zur Varianz addiert.',
  'Key heads of the image encoder.': 'Key-Köpfe des Bild-Encoders.',
  'Width of a head of the image encoder.': 'Breite eines Kopfs des Bild-Encoders.',
  "By how much the projector shrinks the image's grid.":
    'Um wie viel der Projektor das Raster des Bildes verkleinert.',
  'Queries a side of a window of the projector.': 'Queries je Seite eines Fensters des Projektors.',
  'Side of a window of the projector.': 'Seitenlänge eines Fensters des Projektors.',
  "Where the projector's windows begin.": 'Wo die Fenster des Projektors beginnen.',
  'Blocks of the SAM encoder.': 'Blöcke des SAM-Encoders.',
  'Width of the SAM encoder.': 'Breite des SAM-Encoders.',
  'Attention heads of the SAM encoder.': 'Attention-Köpfe des SAM-Encoders.',
  'How images are resized: bilinear, bicubic and others.':
    'Wie Bilder skaliert werden: bilinear, bicubic und andere.',
  "Limit of the values within the image encoder's gated layers.":
    'Grenze der Werte in den Schichten des Bild-Encoders mit Gatter.',
  'Experts of each block of the image encoder.': 'Experten jedes Blocks des Bild-Encoders.',
  'Experts of the image encoder that a patch uses.': 'Experten des Bild-Encoders, die ein Patch benutzt.',
  'For each block of the image encoder: the kind of window of its attention.':
    'Für jeden Block des Bild-Encoders: die Art des Fensters seiner Attention.',
  'Blocks of the image encoder whose outputs are used.':
    'Blöcke des Bild-Encoders, deren Ausgaben benutzt werden.',
  'Sizes, as pairs of width and height, to one of which an image is resized.':
    'Größen als Paare aus Breite und Höhe, auf eine von denen ein Bild skaliert wird.',
  'Kind of projector of the audio encoder.': 'Art des Projektors des Audio-Encoders.',
  "Width of the audio encoder's hidden state.": 'Breite des verborgenen Zustands des Audio-Encoders.',
  "Width of the audio encoder's feed-forward layer.": 'Breite der Feed-Forward-Schicht des Audio-Encoders.',
  'Width of the projected audio features.': 'Breite der projizierten Audiomerkmale.',
  'Blocks of the audio encoder.': 'Blöcke des Audio-Encoders.',
  'How many frames become one.': 'Wie viele Frames zu einem werden.',
  'Attention heads of the audio encoder.': 'Attention-Köpfe des Audio-Encoders.',
  "Added to the variance in the audio encoder's norms.":
    'Wird in den Normierungen des Audio-Encoders zur Varianz addiert.',
  'How many frames the projector stacks.': 'Wie viele Frames der Projektor stapelt.',
  'Frames in a window of the audio projector.': 'Frames in einem Fenster des Audio-Projektors.',
  'How many frames the audio projector makes one of.':
    'Aus wie vielen Frames der Audio-Projektor einen macht.',
  'Attention heads of the audio projector.': 'Attention-Köpfe des Audio-Projektors.',
  'Frames that the audio encoder attends to at once.': 'Frames, die der Audio-Encoder zugleich beachtet.',
  "Width of the audio encoder's convolution.": 'Breite der Faltung des Audio-Encoders.',
  "Largest distance of the audio encoder's relative positions.":
    'Größter Abstand der relativen Positionen des Audio-Encoders.',
  'Blocks of the audio encoder whose outputs are used.':
    'Blöcke des Audio-Encoders, deren Ausgaben benutzt werden.',
  'Codebooks of the residual vector quantization.': 'Codebücher der Residual-Vektorquantisierung.',
  'Codes of each codebook.': 'Codes jedes Codebuchs.',
  codes: 'Codes',
  'For each block of the audio encoder: the kind of window of its attention.':
    'Für jeden Block des Audio-Encoders: die Art des Fensters seiner Attention.',
  "Window of the audio encoder's attention.": 'Fenster der Attention des Audio-Encoders.',
  'Blocks that run within a group of frames.': 'Blöcke, die innerhalb einer Gruppe von Frames laufen.',
  'Frames in such a group.': 'Frames einer solchen Gruppe.',
  'Whether the file has a generator of audio.': 'Ob die Datei einen Audio-Generator hat.',
  'Kind of generator of audio.': 'Art des Audio-Generators.',
  'Name of the weights, for settings that the file does not hold.':
    'Name der Gewichte, für Einstellungen, die nicht in der Datei stehen.',
  "Width of the audio generator's hidden state.": 'Breite des verborgenen Zustands des Audio-Generators.',
  "Width of the audio generator's feed-forward layer.":
    'Breite der Feed-Forward-Schicht des Audio-Generators.',
  'Blocks of the audio generator.': 'Blöcke des Audio-Generators.',
  "Width of the audio generator's output.": 'Breite der Ausgabe des Audio-Generators.',
  'Attention heads of the audio generator.': 'Attention-Köpfe des Audio-Generators.',
  'Key heads of the audio generator.': 'Key-Köpfe des Audio-Generators.',
  "Added to the variance in the audio generator's norms.":
    'Wird in den Normierungen des Audio-Generators zur Varianz addiert.',
  'Width of the model that corrects drafted tokens.': 'Breite des Modells, das entworfene Token korrigiert.',
  'Candidates that the correction compares.': 'Kandidaten, die die Korrektur vergleicht.',
  'Attention heads of the correction.': 'Attention-Köpfe der Korrektur.',
  'Blocks of the correction.': 'Blöcke der Korrektur.',
  "Rank of the correction's factors.": 'Rang der Faktoren der Korrektur.',
  "Width of the correction's feed-forward layers.": 'Breite der Feed-Forward-Schichten der Korrektur.',
  'Added where the correction normalizes vectors.': 'Wird addiert, wo die Korrektur Vektoren normiert.',
  "Factor of the correction's logits.": 'Faktor der Logits der Korrektur.',
  'Version of the description of Hadamard-rotated weights.':
    'Version der Beschreibung Hadamard-rotierter Gewichte.',
  'Whether the rotated token embedding also is the output matrix.':
    'Ob das rotierte Token-Embedding auch die Ausgabematrix ist.',
  'Elements of a row that are rotated together.': 'Elemente einer Zeile, die zusammen rotiert werden.',
  'Which transform rotates them.': 'Welche Transformation sie rotiert.',
  'Axis of the weights that is rotated.': 'Achse der Gewichte, die rotiert wird.',
  'Where the signs before the transform come from.': 'Woher die Vorzeichen vor der Transformation kommen.',
  'Lengths of the rows that the signs are for.': 'Längen der Zeilen, für die die Vorzeichen sind.',
  'Signs for each of these lengths, one after the other.':
    'Vorzeichen für jede dieser Längen, hintereinander.',
  'Tensors whose input is to be rotated.': 'Tensoren, deren Eingabe zu rotieren ist.',
  'Tensors whose output is to be rotated back.': 'Tensoren, deren Ausgabe zurückzurotieren ist.',
  'Whether the value heads of delta nets keep their grouped order.':
    'Ob die Value-Köpfe von Delta-Netzen ihre gruppierte Reihenfolge behalten.',
}
