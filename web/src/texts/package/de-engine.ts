// What the package says, in German: errors of the engine. The English text is the key; see de.ts.
export default {
  'a grammar of {} bytes is too long': 'Eine Grammatik von {0} Byte ist zu lang',
  'the grammar is not UTF-8': 'Die Grammatik ist nicht UTF-8',
  'the grammar has no rule {}': 'Die Grammatik hat keine Regel {0}',
  'no rule {} at byte {} in the grammar': 'Keine Regel {0} bei Byte {1} der Grammatik',
  '{~} at byte {} in the grammar': '{0} bei Byte {1} der Grammatik',
  "expected a rule's name": 'Name einer Regel erwartet',
  'a second rule {}': 'eine zweite Regel {0}',
  'expected the end of the line': 'Zeilenende erwartet',
  'expected ) before the next rule': ') vor der nächsten Regel erwartet',
  'the grammar is too large: more than {} items': 'Die Grammatik ist zu groß: mehr als {0} Elemente',
  'expected a token in <>': 'ein Token in <> erwartet',
  'a token without its >': 'ein Token ohne sein >',
  'a count too large': 'eine zu große Anzahl',
  'a largest count below the smallest': 'eine größte Anzahl unter der kleinsten',
  'expected a number': 'eine Zahl erwartet',
  'a range that ends before it starts': 'ein Bereich, der endet, bevor er beginnt',
  'a class without characters': 'eine Klasse ohne Zeichen',
  'an unknown escape': 'eine unbekannte Escape-Folge',
  'an escape without its {} hexadecimal digits': 'eine Escape-Folge ohne ihre {0} hexadezimalen Ziffern',
  'an escape that is not a character': 'eine Escape-Folge, die kein Zeichen ist',
  'the grammar is too large: more than {} states': 'Die Grammatik ist zu groß: mehr als {0} Zustände',
  'a token, and no vocabulary': 'ein Token, und kein Vokabular',
  'more than {} tokens at byte {} in the grammar': 'Mehr als {0} Token bei Byte {1} der Grammatik',
  'a text of {} bytes is no token': 'Ein Text von {0} Byte ist kein Token',
  '{} is not one token of the vocabulary': '{0} ist kein einzelnes Token des Vokabulars',
  'no token {}': 'kein Token {0}',
  'left recursion (the rule {} may begin with itself) at byte {} in the grammar':
    'Linksrekursion (die Regel {0} kann mit sich selbst beginnen) bei Byte {1} der Grammatik',
  'the grammar can read the text in too many ways': 'Die Grammatik kann den Text auf zu viele Arten lesen',
  'layer {} (counted from 0) of the {}': 'Schicht {0} (ab 0 gezählt) von: {1}',
  'the first step of the {}': 'dem ersten Schritt von: {0}',
  'the projector': 'dem Projektor',
  'the results are not numbers: the first that is none comes from {~}':
    'Die Ergebnisse sind keine Zahlen: Das erste solche kommt von {0}',
  '{~} needs {} MiB to be encoded': '{0} braucht {1} MiB, um kodiert zu werden',
  'this image': 'Dieses Bild',
  'this audio': 'Diese Tonaufnahme',
  'an image of {} x {} pixels needs {#token}, and the context has {}':
    'Ein Bild von {0} x {1} Pixeln braucht {2} Token, und der Kontext hat {3}',
  'there is no image or audio with the id {}; it must be encoded again':
    'Es gibt kein Bild und keine Tonaufnahme mit der Kennung {0}; sie muss neu kodiert werden',
  'the vocabulary has no token {}, which the projector needs':
    'Das Vokabular hat kein Token {0}, das der Projektor braucht',
  'the audio has no samples': 'Die Tonaufnahme hat keine Abtastwerte',
  'sample {} of the audio is not a finite number': 'Abtastwert {0} der Tonaufnahme ist keine endliche Zahl',
  'the audio has {#sample}; this projector needs {}':
    'Die Tonaufnahme hat {0#Abtastwert/Abtastwerte}; dieser Projektor braucht {1}',
  'audio of {} s needs {#token}, and the context has {}':
    'Eine Tonaufnahme von {0} s braucht {1} Token, und der Kontext hat {2}',
  "The model's logits are not numbers. Its weights may be damaged: check their values, or fetch the file again.":
    'Die Logits des Modells sind keine Zahlen. Seine Gewichte sind vielleicht beschädigt: Prüfen Sie ihre Werte, oder laden Sie die Datei noch einmal.',
  "An adapter's kind must be 'lora' or 'control-vector', not {}.":
    "Die Art eines Adapters muss 'lora' oder 'control-vector' sein, nicht {0}.",
  'The file {} is of the kind {}, not {}.': 'Die Datei {0} ist von der Art {1}, nicht {2}.',
  'The file is of the kind {}, not {}.': 'Die Datei ist von der Art {0}, nicht {1}.',
  'the logit bias forbids every token': 'Der logitBias schließt jedes Token aus',
  'no token may follow here': 'Hier darf kein Token folgen',
  'truncated at byte {} in header': 'Abgeschnitten bei Byte {0} im Kopf',
  'there is no sequence {} of {}': 'Es gibt keine Sequenz {0} von {1}',
  'the model is not loaded': 'Das Modell ist nicht geladen',
  'a sequence of an encoder-decoder model cannot be forked':
    'Eine Sequenz eines Encoder-Decoder-Modells kann nicht verzweigt werden',
  'sequence {} cannot be forked to sequence {} of {}':
    'Sequenz {0} kann nicht zu Sequenz {1} von {2} verzweigt werden',
  'the prompt is empty: it needs a text': 'Der Prompt ist leer: Er braucht einen Text',
  '{#token} do not fit a context of {}': '{0} Token passen nicht in einen Kontext von {1}',
  'there is no token {}': 'Es gibt kein Token {0}',
  'this model computes embeddings; it cannot generate text':
    'Dieses Modell berechnet Embeddings; es kann keinen Text erzeugen',
  'this model sees a whole text at once, for text diffusion or embeddings; it cannot continue one':
    'Dieses Modell sieht einen ganzen Text auf einmal, für Textdiffusion oder Embeddings; es kann keinen fortsetzen',
  'a grammar needs a vocabulary, and this file has none':
    'Eine Grammatik braucht ein Vokabular, und diese Datei hat keines',
  'the grammar allows no token of the vocabulary here':
    'Die Grammatik erlaubt hier kein Token des Vokabulars',
  'the answer has ended': 'Die Antwort ist zu Ende',
  'prepare and accept must come before next': 'prepare und accept müssen vor next kommen',
  'there is no such adapter': 'Es gibt keinen solchen Adapter',
  'other adapters and scales than those of loading run on the CPU only':
    'Andere Adapter und Faktoren als die beim Laden laufen nur auf der CPU',
  'an adapter that tokens activate runs on the CPU only':
    'Ein Adapter, den Token einschalten, läuft nur auf der CPU',
  'the saved state was computed with other adapters than those that are set':
    'Der gespeicherte Zustand wurde mit anderen Adaptern berechnet als denen, die gesetzt sind',
  'a projector of speech runs on the CPU only': 'Ein Projektor für Sprache läuft nur auf der CPU',
  'what the model adds to the rows of an image has no kernel':
    'Für das, was das Modell zu den Zeilen eines Bildes addiert, gibt es keinen Kernel',
  'an image has more tokens that see each other than a pass on the device':
    'Ein Bild hat mehr Token, die einander sehen, als ein Durchlauf auf der Grafikkarte',
  'the saved images or audio are truncated': 'Die gespeicherten Bilder oder der Ton sind abgeschnitten',
  'the model has no plan for a device': 'Das Modell hat keinen Plan für eine Grafikkarte',
  'the model does not run on a device': 'Das Modell läuft nicht auf einer Grafikkarte',
  'the model runs on a device': 'Das Modell läuft auf einer Grafikkarte',
  'a pass is in flight': 'Ein Durchlauf ist noch unterwegs',
  'no pass is in flight': 'Kein Durchlauf ist unterwegs',
  'the logits of {} tokens are {} numbers, not {}': 'Die Logits von {0} Token sind {1} Zahlen, nicht {2}',
  'the device chooses no token that could be computed next':
    'Die Grafikkarte wählt kein Token, das als Nächstes berechnet werden könnte',
  'no chosen token is expected': 'Es wird kein gewähltes Token erwartet',
  'the device chose token {}, which does not exist': 'Die Grafikkarte wählte Token {0}, das es nicht gibt',
  'token {} does not exist': 'Token {0} gibt es nicht',
  'the answer has ended before token {}': 'Die Antwort endete vor Token {0}',
  'the grammar does not allow token {}': 'Die Grammatik erlaubt Token {0} nicht',
  'truncated at byte {} in header of the projector': 'Abgeschnitten bei Byte {0} im Kopf des Projektors',
  'a projector\'s general.architecture is "clip"': 'general.architecture eines Projektors ist „clip“',
  'a projector needs a model that continues text': 'Ein Projektor braucht ein Modell, das Text fortsetzt',
  'this projector has neither an image nor an audio encoder':
    'Dieser Projektor hat weder Bild- noch Audio-Encoder',
  'this projector makes speech; it can read neither images nor audio':
    'Dieser Projektor erzeugt Sprache; er kann weder Bilder noch Ton lesen',
  'the model was loaded without a projector; it can read neither images nor audio':
    'Das Modell wurde ohne Projektor geladen; es kann weder Bilder noch Ton lesen',
  'images and audio need a vocabulary, and this file has none':
    'Bilder und Ton brauchen ein Vokabular, und diese Datei hat keines',
  'no image or audio is being encoded': 'Es wird kein Bild und kein Ton kodiert',
  'the image or audio was restored without its embeddings; it must be encoded again':
    'Das Bild oder der Ton wurde ohne Embeddings wiederhergestellt und muss neu kodiert werden',
  'an encoded image or audio was discarded to free memory; it must be encoded again':
    'Ein kodiertes Bild oder eine Tonaufnahme wurde verworfen, um Speicher freizugeben, und muss neu kodiert werden',
  'the saved state is truncated': 'Der gespeicherte Zustand ist abgeschnitten',
  "the saved state's tokens of an image or audio are invalid":
    'Die Token eines Bildes oder Tons im gespeicherten Zustand sind ungültig',
  'an image or audio in the saved state has the id of a different one in this session':
    'Ein Bild oder Ton im gespeicherten Zustand hat die Kennung eines anderen in dieser Sitzung',
  'this model has no logits': 'Dieses Modell hat keine Logits',
  'logits of a text are not available for encoder-decoder models':
    'Logits eines Textes gibt es für Encoder-Decoder-Modelle nicht',
  'a text with images or audio cannot be embedded':
    'Für einen Text mit Bildern oder Ton gibt es kein Embedding',
  'the model was loaded without a projector that makes speech: it cannot speak':
    'Das Modell wurde ohne Projektor geladen, der Sprache erzeugt: Es kann nicht sprechen',
  'speech needs a vocabulary, and this file has none':
    'Sprache braucht ein Vokabular, und diese Datei hat keines',
  'the state of an answer with ablated parts cannot be saved':
    'Der Zustand einer Antwort mit abgeschalteten Teilen kann nicht gespeichert werden',
  'these bytes are not a saved state': 'Diese Byte sind kein gespeicherter Zustand',
  'head {} of {}': 'Kopf {0} von {1}',
  'parts of encoder-decoder models cannot be ablated or traced':
    'Teile von Encoder-Decoder-Modellen können nicht abgeschaltet oder verfolgt werden',
  'parts of a model are ablated only where it runs on the CPU':
    'Teile eines Modells werden nur abgeschaltet, wo es auf der CPU läuft',
  'there is no {~}': 'Es gibt nicht: {0}',
  'the layers of this model have several residual streams, so a whole layer cannot be ablated':
    'Die Schichten dieses Modells haben mehrere Residualströme, daher kann keine ganze Schicht abgeschaltet werden',
  '{~}: this layer does not compute attention head by head':
    '{0}: Diese Schicht berechnet Attention nicht Kopf für Kopf',
  'a text with images or audio cannot be traced': 'Ein Text mit Bildern oder Ton kann nicht verfolgt werden',
  'models of this architecture cannot be traced': 'Modelle dieser Architektur können nicht verfolgt werden',
  'attention is recorded of heads': 'Attention wird von Köpfen aufgezeichnet',
  'the number of best tokens is out of range': 'Die Zahl der besten Token liegt außerhalb des Bereichs',
  'there is no layer {} to read: the output is {}':
    'Es gibt keine Schicht {0} zum Lesen: Die Ausgabe ist {1}',
  'the layers of this model have several residual streams, so only its output can be read':
    'Die Schichten dieses Modells haben mehrere Residualströme, daher kann nur seine Ausgabe gelesen werden',
  'no text is being traced': 'Es wird kein Text verfolgt',
  'this pipeline of speech cannot read texts': 'Diese Sprachpipeline kann keine Texte lesen',
  'the vocabulary has more tokens than the model has embeddings':
    'Das Vokabular hat mehr Token als das Modell Embeddings',
  'nothing is being spoken': 'Es wird nichts gesprochen',
  'the model was used for something else before the speech ended':
    'Das Modell wurde für anderes benutzt, bevor die Sprache endete',
  'the speech does not fit the context of {} positions':
    'Die Sprache passt nicht in den Kontext von {0} Positionen',
  "the model's hidden states are not numbers": 'Die verborgenen Zustände des Modells sind keine Zahlen',
  'the samples that the decoder of speech makes are not numbers':
    'Die Abtastwerte des Sprachdecoders sind keine Zahlen',
  "the model's state cannot be rewound to speak the next part of the text":
    'Der Zustand des Modells kann nicht zurückgesetzt werden, um den nächsten Teil des Textes zu sprechen',
  'this projector has no encoder of voices: it cannot read a recording':
    'Dieser Projektor hat keinen Encoder für Stimmen: Er kann keine Aufnahme lesen',
  'a sample of the recording is not a number': 'Ein Abtastwert der Aufnahme ist keine Zahl',
  'no recording is being encoded': 'Es wird keine Aufnahme kodiert',
  'a voice has rows of {} numbers, but {} are no whole rows':
    'Eine Stimme hat Zeilen von {0} Zahlen, aber {1} sind keine ganzen Zeilen',
  'a number of the voice is not finite': 'Eine Zahl der Stimme ist nicht endlich',
  'this model speaks by itself: it takes neither a projector nor more files':
    'Dieses Modell spricht allein: Es nimmt weder einen Projektor noch weitere Dateien',
  "the speed of this model's speech cannot be chosen":
    'Das Sprechtempo dieses Modells lässt sich nicht wählen',
  'a voice of this model is a name, not a recording':
    'Eine Stimme dieses Modells ist ein Name, keine Aufnahme',
  'this model makes no choices: it has no temperature':
    'Dieses Modell trifft keine Auswahl: Es hat keine Temperatur',
  'the speed of speech is a number from 0.25 to 4': 'Das Sprechtempo ist eine Zahl von 0,25 bis 4',
  'there is no voice {}, but {}': 'Es gibt keine Stimme {0}, aber {1}',
  'the phonemes are not valid UTF-8': 'Die Phoneme sind kein gültiges UTF-8',
  'the model\'s alphabet has none of these phonemes; the first is "{}"':
    'Das Alphabet des Modells hat keines dieser Phoneme; das erste ist "{0}"',
  'the model\'s alphabet lacks the phoneme "{}", which is left out':
    'Dem Alphabet des Modells fehlt das Phonem "{0}", das ausgelassen wird',
  'there is no text to speak': 'Es gibt keinen Text zu sprechen',
  'a context of {} positions is too short to speak with a voice of {#row}':
    'Ein Kontext von {0} Positionen ist zu kurz, um mit einer Stimme von {1#Zeile/Zeilen} zu sprechen',
  'a context of {} positions is too short to speak':
    'Ein Kontext von {0} Positionen ist zu kurz zum Sprechen',
  "word {} of the voice's profile is no word": 'Wort {0} des Stimmprofils ist kein Wort',
  "word {} of the voice's profile has no duration of 0 to 60 seconds":
    'Wort {0} des Stimmprofils hat keine Dauer von 0 bis 60 Sekunden',
  "word {} of the voice's profile has the code {}, not one of 0 to {}":
    'Wort {0} des Stimmprofils hat den Code {1}, keinen von 0 bis {2}',
  "the voice's profile has more than 1,000 words": 'Das Stimmprofil hat mehr als 1.000 Wörter',
  'a voice of this model is a profile, not a recording':
    'Eine Stimme dieses Modells ist ein Profil, keine Aufnahme',
  'a voice of this model is a recording, not a profile':
    'Eine Stimme dieses Modells ist eine Aufnahme, kein Profil',
  'this model reads the letters a to z: others were left out':
    'Dieses Modell liest die Buchstaben a bis z: Andere wurden ausgelassen',
  'the vocabulary has no token {}: the model does not write codes of sound':
    'Das Vokabular hat kein Token {0}: Das Modell schreibt keine Klangcodes',
  "the vocabulary's tokens of codes are not those of the decoder, <|0|> to {}":
    'Die Code-Token des Vokabulars sind nicht die des Decoders, <|0|> bis {0}',
  'too many codes of sound': 'Zu viele Klangcodes',
  'frames of {#value} are no spectra of sound': 'Frames von {0#Wert/Werten} sind keine Klangspektren',
  'the vocabulary has no token {}': 'Das Vokabular hat kein Token {0}',
  'the model does not speak the language {}, only: {}': 'Das Modell spricht die Sprache {0} nicht, nur: {1}',
  'a voice of this model is one row of {} numbers, but this one has {}':
    'Eine Stimme dieses Modells ist eine Zeile von {0} Zahlen, diese hat {1}',
  "the model's output has {#row}, which are not those of the codec's tokens from {} on":
    'Die Ausgabe des Modells hat {0#Zeile/Zeilen}, die nicht zu den Token des Codecs ab {1} gehören',
  'the settings of the variant {} are not known: those of most variants are used, a temperature of 0.7 among them':
    'Die Einstellungen der Variante {0} sind nicht bekannt: Es gelten die der meisten Varianten, darunter eine Temperatur von 0,7',
  'a frame of the speech is not of numbers': 'Ein Frame der Sprache besteht nicht aus Zahlen',
  '{} has an encoder, so it can be neither a draft model nor have one':
    '{0} hat einen Encoder und kann deshalb weder Entwurfsmodell sein noch eines haben',
  '{} computes a text as a whole: it can be neither a draft model nor have one':
    '{0} berechnet einen Text als Ganzes: Es kann weder Entwurfsmodell sein noch eines haben',
  '{} cannot remove tokens from its state, so it cannot be a draft model':
    '{0} kann keine Token aus seinem Zustand entfernen und deshalb kein Entwurfsmodell sein',
  "the draft model's vocabulary has a different size": 'Das Vokabular des Entwurfsmodells ist anders groß',
  'token {} is another in the draft model': 'Token {0} ist im Entwurfsmodell ein anderes',
  'the draft is an MTP head of a model of architecture {}':
    'Der Entwurf ist ein MTP-Kopf eines Modells der Architektur {0}',
  'the draft model reads the hidden states of another model':
    'Das Entwurfsmodell liest die verborgenen Zustände eines anderen Modells',
  '{} reads the cache of another architecture than {}':
    '{0} liest den Cache einer anderen Architektur als {1}',
  'the draft model reads the cache of a model with other heads':
    'Das Entwurfsmodell liest den Cache eines Modells mit anderen Köpfen',
  '{} has no single hidden state for a draft model to read':
    '{0} hat keinen einzelnen verborgenen Zustand, den ein Entwurfsmodell lesen könnte',
  'The engine that the tabs share holds no state of this conversation: other tabs needed its place, or the engine started anew. generate() computes it again.':
    'Die gemeinsame Engine der Tabs hat keinen Zustand dieser Unterhaltung mehr: Andere Tabs brauchten den Platz, oder sie startete neu. generate() berechnet ihn noch einmal.',
  'The engine that the tabs share holds no audio of this tab: pass the option audio.':
    'Die Engine, die die Tabs teilen, hat kein Audio dieses Tabs: Übergeben Sie die Option audio.',
  'An image or sound cannot be encoded again: pass it again.':
    'Ein Bild oder Ton lässt sich nicht noch einmal kodieren: Übergeben Sie es noch einmal.',
  'An engine can be shared only by the tabs of a browser that has Web Locks (navigator.locks), on https:// or localhost.':
    'Nur die Tabs eines Browsers mit Web Locks (navigator.locks) können eine Engine teilen, auf https:// oder localhost.',
  'With share, {} must be an address.': 'Mit share muss {0} eine Adresse sein.',
  'The tab that ran the shared engine has ended.': 'Der Tab mit der gemeinsamen Engine ist zu.',
  'An answer whose context was shifted, and speech that was partly heard or spoken, cannot be continued: call again.':
    'Eine Antwort mit verschobenem Kontext und halb gehörte oder gesprochene Sprache lassen sich nicht fortsetzen: Rufen Sie noch einmal auf.',
  '{} tabs that ran the shared engine ended while they computed this call.':
    '{0} Tabs mit der gemeinsamen Engine gingen während dieses Aufrufs zu.',
  'The head of the index is damaged.': 'Der Kopf des Index ist beschädigt.',
  'There must be as many vectors as items: {}, not {}.':
    'Es muss so viele Vektoren wie Einträge geben: {0}, nicht {1}.',
  'The length of the vectors of this index is {}, not {}.':
    'Die Vektoren dieses Index haben {0} Werte, nicht {1}.',
  'A value of the vector is not a number.': 'Ein Wert des Vektors ist keine Zahl.',
  'These bytes are not an index of vectors.': 'Diese Byte sind kein Index von Vektoren.',
  'The index is damaged: its checksum is another one.':
    'Der Index ist beschädigt: Seine Prüfsumme ist eine andere.',
  'The messages of "state" may have parts of text only: no images, no audio.':
    'Die Nachrichten von „state“ dürfen nur Teile mit Text haben: keine Bilder, keine Töne.',
  'The index ends at byte {}, too early.': 'Der Index endet zu früh, bei Byte {0}.',
  'A saved state can have 4 GiB, but this one needs more.':
    'Ein gespeicherter Zustand kann 4 GiB haben, aber dieser braucht mehr.',
  'A context is shifted': 'Ein Kontext verschiebt sich',
  'Parts of a model are switched off': 'Teile eines Modells lassen sich abschalten:',
}
