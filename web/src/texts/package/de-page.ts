// What the package says, in German: errors of the package's own code. The English text is the key; see de.ts.
export default {
  '{} gave no ranges of the file, as it did before.':
    '{0} gab keine Bereiche der Datei zurück, anders als zuvor.',
  'Audio must have one Float32Array for each channel, all of the same length.':
    'Ton muss ein Float32Array je Kanal haben, alle gleich lang.',
  'sampleRate must be a whole number from {} to {}, not {}.':
    'sampleRate muss eine ganze Zahl von {0} bis {1} sein, nicht {2}.',
  'This audio cannot be decoded.': 'Diese Tonaufnahme kann nicht dekodiert werden.',
  'This audio has no bytes.': 'Diese Tonaufnahme hat keine Byte.',
  'Only WAV files can be decoded here: in Node, install the package audio-decode, or decode other files to { samples, sampleRate } first.':
    'Hier können nur WAV-Dateien dekodiert werden: Installieren Sie in Node das Paket audio-decode, oder dekodieren Sie andere Dateien vorher zu { samples, sampleRate }.',
  'Audio must be a Float32Array at 16 kHz, { samples, sampleRate }, an AudioBuffer, or a file, such as WAV: its bytes, a Blob, { base64 } or a data: address.':
    'Ton muss ein Float32Array mit 16 kHz sein, { samples, sampleRate }, ein AudioBuffer oder eine Datei wie WAV: ihre Byte, ein Blob, { base64 } oder eine data:-Adresse.',
  'A block of the stream is not a Float32Array.': 'Ein Block des Stroms ist kein Float32Array.',
  'A WAV file of {} Hz at byte {}: audio has from {} to {} samples per second.':
    'Eine WAV-Datei von {0} Hz bei Byte {1}: Ton hat {2} bis {3} Abtastwerte pro Sekunde.',
  'The WAV file claims {} of samples, but has {}: the audio may be cut.':
    'Die WAV-Datei gibt {0} an Abtastwerten an, hat aber {1}: Der Ton ist vielleicht abgeschnitten.',
  'This projector has no {} encoder: it cannot read images.':
    'Dieser Projektor hat keinen Encoder für {0}: Er kann keine Bilder lesen.',
  'This projector has no {} encoder: it cannot read audio.':
    'Dieser Projektor hat keinen Encoder für {0}: Er kann keinen Ton lesen.',
  'The model was loaded without a projector: it can read neither images nor audio.':
    'Das Modell wurde ohne Projektor geladen: Es kann weder Bilder noch Ton lesen.',
  'Adapters are a list of { source, scale }, not {}.':
    'Adapter sind eine Liste von { source, scale }, nicht {0}.',
  'An adapter is { source, scale }, not {}.': 'Ein Adapter ist { source, scale }, nicht {0}.',
  "An adapter's layers must be [first, last], not {}.":
    'Die Schichten eines Adapters müssen [erste, letzte] sein, nicht {0}.',
  'The engine was not started.': 'Die Engine wurde nicht gestartet.',
  'The engine crashed ({~}). Its model is closed: load it again.':
    'Die Engine ist abgestürzt ({0}). Ihr Modell ist geschlossen: Laden Sie es neu.',
  'The engine on the graphics card crashed: {~}.': 'Die Engine auf der Grafikkarte ist abgestürzt: {0}.',
  'The graphics card was lost: {~}.': 'Die Grafikkarte ging verloren: {0}.',
  'The graphics card failed: {~}': 'Die Grafikkarte hat versagt: {0}',
  'WebGPU does not work here: {~}': 'WebGPU funktioniert hier nicht: {0}',
  'Node has no WebGPU: install the package webgpu.':
    'Node hat kein WebGPU: Installieren Sie das Paket webgpu.',
  'No memory for {} bytes.': 'Kein Speicher für {0} Byte.',
  'A Parakeet model cannot be run: its decoder is a transducer, which this engine does not have. It can be opened and converted.':
    'Ein Parakeet-Modell kann nicht laufen: Sein Decoder ist ein Transducer, den diese Engine nicht hat. Es kann geöffnet und konvertiert werden.',
  'A {} container from before GGUF cannot be run: convert the file first.':
    'Ein {0}-Container aus der Zeit vor GGUF kann nicht laufen: Konvertieren Sie die Datei zuerst.',
  'This file has no weights (a vocabulary alone): it can be opened, not run.':
    'Diese Datei hat keine Gewichte (nur ein Vokabular): Sie kann geöffnet werden, aber nicht laufen.',
  'This file has no weights ({~}): it can be opened, not run.':
    'Diese Datei hat keine Gewichte ({0}): Sie kann geöffnet werden, aber nicht laufen.',
  'A Whisper model does not take a projector.': 'Ein Whisper-Modell nimmt keinen Projektor.',
  'A Whisper model does not take a draft model.': 'Ein Whisper-Modell nimmt kein Entwurfsmodell.',
  'A Whisper model does not take adapters.': 'Ein Whisper-Modell nimmt keine Adapter.',
  'A Whisper model cannot be a draft model.': 'Ein Whisper-Modell kann kein Entwurfsmodell sein.',
  'This medium cannot be decoded.': 'Dieses Medium kann nicht dekodiert werden.',
  "What is encoded is { type: 'image', image } or { type: 'audio', audio }.":
    "Kodiert wird { type: 'image', image } oder { type: 'audio', audio }.",
  'WebAssembly has no 64-bit memory (memory64) here.':
    'WebAssembly hat hier keinen 64-Bit-Speicher (memory64).',
  'The variant with 64-bit memory needs relaxed SIMD, which is missing here.':
    'Die Variante mit 64-Bit-Speicher braucht relaxed SIMD, das hier fehlt.',
  '{~}. The model cannot continue on the CPU: {~}.':
    '{0}. Das Modell kann auf der CPU nicht weiterlaufen: {1}.',
  'A Whisper model transcribes speech. It does not generate text.':
    'Ein Whisper-Modell schreibt Sprache mit. Es erzeugt keinen Text.',
  'A model of architecture {} cannot transcribe: a Whisper model is needed.':
    'Ein Modell der Architektur {0} kann nicht mitschreiben: Dafür braucht es ein Whisper-Modell.',
  'All {} forks of this model are in use: close one, or load it with more maxForks.':
    'Alle {0} Zweige dieses Modells sind belegt: Schließen Sie einen, oder laden Sie es mit mehr maxForks.',
  'An answer can have a grammar or a schema, not both.':
    'Eine Antwort kann eine Grammatik oder ein Schema haben, nicht beides.',
  'This is what the device says it has; memoryLimit allows more.':
    'So viel hat das Gerät nach eigener Angabe; memoryLimit erlaubt mehr.',
  'The graphics card is faster here: {~}': 'Die Grafikkarte ist hier schneller: {0}',
  'The CPU is faster here: {~}': 'Die CPU ist hier schneller: {0}',
  'The devices could not be compared: {}': 'Die Geräte ließen sich nicht vergleichen: {0}',
  'This model needs {} on the graphics card, and memoryLimit is {}.':
    'Dieses Modell braucht {0} auf der Grafikkarte, und memoryLimit ist {1}.',
  'Whisper models cannot run in 64-bit memory.': 'Whisper-Modelle laufen nicht in 64-Bit-Speicher.',
  'The option {} names the token {}: ids go from 0 to {}.':
    'Die Option {0} nennt das Token {1}: Die Nummern gehen von 0 bis {2}.',
  'The option grammarTriggers holds {}: a trigger is a text, { text, atStart } or { token }.':
    'Die Option grammarTriggers enthält {0}: Ein Auslöser ist ein Text, { text, atStart } oder { token }.',
  'The option stop holds {}, which is no string.': 'Die Option stop enthält {0}, was kein Text ist.',
  'A logit bias names the token {}: ids go from 0 to {}.':
    'Ein Logit-Bias nennt das Token {0}: Die Nummern gehen von 0 bis {1}.',
  'The logit bias of token {} must be a number, not {}.':
    'Der Logit-Bias von Token {0} muss eine Zahl sein, nicht {1}.',
  'The option keep of generate() is about messages, which only chat() has.':
    'Die Option keep von generate() betrifft Nachrichten, die nur chat() hat.',
  'The option onOverflow of generate() is about messages, which only chat() has.':
    'Die Option onOverflow von generate() betrifft Nachrichten, die nur chat() hat.',
  "A prompt is a text or its tokens' ids, not {}.":
    'Ein Prompt ist ein Text oder die Nummern seiner Token, nicht {0}.',
  "A token's id must be a whole number, not {}.":
    'Die Nummer eines Tokens muss eine ganze Zahl sein, nicht {0}.',
  'The system messages and the last turn have more than {} tokens. The rest of the context is for the answer.':
    'Die Systemnachrichten und der letzte Beitrag haben mehr als {0} Token. Der Rest des Kontexts ist für die Antwort.',
  'This model speaks one language: leave out the option language.':
    'Dieses Modell spricht eine Sprache: Lassen Sie die Option language weg.',
  'Decision models of the kind {} read text alone here. Kinds whose options have labels also read images and audio: {}.':
    'Entscheidungsmodelle der Art {0} lesen hier nur Text. Arten, deren Optionen Kennzeichen haben, lesen auch Bilder und Ton: {1}.',
  'The model\'s template "systemone" leaves out images or audio: it wrote {} of {}.':
    'Die Vorlage „systemone“ des Modells lässt Bilder oder Ton weg: Sie schrieb {0} von {1}.',
  'This model reads words, not phonemes: leave out the option ipa.':
    'Dieses Modell liest Wörter, keine Phoneme: Die Option ipa weglassen.',
  'The voices of this model have no names: a voice is a recording, or a profile.':
    'Die Stimmen dieses Modells haben keine Namen: Eine Stimme ist eine Aufnahme oder ein Profil.',
  'A voice of this model is a name, such as info.voices has them.':
    'Eine Stimme dieses Modells ist ein Name, wie info.voices sie hat.',
  'This model has no voice {}, but {}.': 'Dieses Modell hat keine Stimme {0}, aber {1}.',
  'This model reads phonemes: pass phonemize(text, language), a function that returns the phonemes of a clause, or phonemes as the text with ipa: true.':
    'Dieses Modell liest Phoneme: phonemize(text, language) übergeben, eine Funktion, die die Phoneme eines Satzteils zurückgibt, oder Phoneme als Text mit ipa: true.',
  "The file's list of words has neither {} nor names of their letters: left out.":
    'In der Wortliste der Datei fehlen {0} und Namen ihrer Buchstaben: ausgelassen.',
  "The file's list of words has neither {} nor names of their letters: there is nothing to speak.":
    'In der Wortliste der Datei fehlen {0} und Namen ihrer Buchstaben: Es gibt nichts zu sprechen.',
  "The file's list of words lacks {}: spelled letter by letter.":
    'In der Wortliste der Datei fehlt {0}: Buchstabe für Buchstabe gesprochen.',
  'phonemize() must return a string, not {}.': 'phonemize() muss einen Text zurückgeben, nicht {0}.',
  'A model that speaks by itself takes neither a projector nor a draft model nor adapters.':
    'Ein Modell, das allein spricht, nimmt weder einen Projektor noch ein Entwurfsmodell noch Adapter.',
  'A model that speaks by itself cannot be a draft model.':
    'Ein Modell, das allein spricht, kann kein Entwurfsmodell sein.',
  'Models that speak by themselves run only on the CPU.':
    'Modelle, die allein sprechen, laufen nur auf der CPU.',
  "This model cannot speak: that needs a model for speech and its projector, such as Pocket TTS's or Qwen3-TTS's, or OuteTTS with WavTokenizer's decoder, or Kokoro.":
    'Dieses Modell kann nicht sprechen: Dazu braucht es ein Modell für Sprachausgabe und seinen Projektor, etwa von Pocket TTS oder Qwen3-TTS, oder OuteTTS mit WavTokenizers Decoder, oder Kokoro.',
  "The words of a voice's profile must be an array.": 'Die Wörter eines Stimmprofils müssen ein Array sein.',
  'Word {} of the voice\'s profile lacks a word without spaces, a number "duration", or an array "codes".':
    'Wort {0} des Stimmprofils fehlt ein Wort ohne Leerzeichen, eine Zahl „duration“ oder ein Array „codes“.',
  'This JSON file is no profile of a voice: it has no "words".':
    'Diese JSON-Datei ist kein Stimmprofil: Sie hat kein „words“.',
  'No memory for audio of {} s.': 'Kein Speicher für {0} s Ton.',
  'A Whisper model needs audio to evaluate tokens: pass the option audio.':
    'Ein Whisper-Modell braucht Ton, um Token auszuwerten: Geben Sie die Option audio an.',
  "The engine's worker {} could not be started: {~}. Host engine-worker.js and engine-*.wasm (wasm/dist/engine of the package) where this page may load them and say where by the option assets, or workerUrl for the script alone. A content policy must allow the script in worker-src.":
    'Der Worker {0} der Engine konnte nicht gestartet werden: {1}. Legen Sie engine-worker.js und engine-*.wasm (wasm/dist/engine des Pakets) dorthin, wo diese Seite sie laden darf, und nennen Sie den Ort mit der Option assets, oder mit workerUrl für das Skript allein. Eine Content-Policy muss das Skript in worker-src erlauben.',
  'There are no workers here, in which WebGPU runs.': 'Hier gibt es keine Worker, in denen WebGPU läuft.',
  "There are no workers here, and the engine's code for that case cannot be loaded: {~}. Bundle the script into one file, without splitting.":
    'Hier gibt es keine Worker, und der Code der Engine für diesen Fall lässt sich nicht laden: {0}. Bündeln Sie das Skript ungeteilt in eine Datei.',
  "The page is cross-origin isolated, but not the engine's worker, so there are no threads: its script needs the header Cross-Origin-Embedder-Policy as well.":
    'Die Seite ist cross-origin isoliert, der Worker der Engine aber nicht, daher gibt es keine Threads: Auch sein Skript braucht den Header Cross-Origin-Embedder-Policy.',
  'The page is not cross-origin isolated, so there are no threads.':
    'Die Seite ist nicht cross-origin isoliert, daher gibt es keine Threads.',
  'This browser has no shared memory (SharedArrayBuffer), so there are no threads.':
    'Dieser Browser hat keinen geteilten Speicher (SharedArrayBuffer), daher gibt es keine Threads.',
  'There are no workers here, so there are no threads.':
    'Hier gibt es keine Worker, daher gibt es keine Threads.',
  'There is no address space for 64-bit memory.': 'Es gibt keinen Adressraum für 64-Bit-Speicher.',
  'The variant with 64-bit memory needs relaxed SIMD, which computes wrong results here.':
    'Die Variante mit 64-Bit-Speicher braucht relaxed SIMD, das hier falsch rechnet.',
  '64-bit memory was requested, or the model needs more than 4 GiB.':
    '64-Bit-Speicher wurde verlangt, oder das Modell braucht mehr als 4 GiB.',
  'This engine has no relaxed SIMD.': 'Diese Engine hat kein relaxed SIMD.',
  'Relaxed SIMD is supported and computes correctly.': 'Relaxed SIMD wird unterstützt und rechnet richtig.',
  'There is no address space for shared memory, so there are no threads.':
    'Es gibt keinen Adressraum für geteilten Speicher, daher gibt es keine Threads.',
  'The vocabulary of a file from before GGUF must be converted: await loadTokenizer() first.':
    'Das Vokabular einer Datei aus der Zeit vor GGUF muss umgewandelt werden: zuerst await loadTokenizer().',
  '{~} only where the model runs on the CPU.': '{0} nur, wo das Modell auf der CPU läuft.',
  'This model cannot transcribe.': 'Dieses Modell kann nicht mitschreiben.',
  'adapter.lora.alpha is not a finite number, or too large.':
    'adapter.lora.alpha ist keine endliche Zahl oder zu groß.',
  'adapter.lora.alpha over the rank of {} is above {}.':
    'adapter.lora.alpha durch den Rang {0} ist größer als {1}.',
  'Tensor {} and {} more are of type {}, which no adapter can have.':
    'Tensor {0} und {1} weitere haben den Typ {2}, den kein Adapter haben kann.',
  'Tensor {} is of type {}, which no adapter can have.':
    'Tensor {0} hat den Typ {1}, den kein Adapter haben kann.',
  'The option allowDamaged, on the command line --force, writes it all the same.':
    'Die Option allowDamaged, in der Kommandozeile --force, schreibt sie trotzdem.',
  'It cannot be run: get the whole model.': 'Es kann nicht laufen: Besorgen Sie das ganze Modell.',
  'The file is truncated at byte {}: of the {~} of tensor {} the first {~} are there.':
    'Die Datei ist bei Byte {0} abgeschnitten: Von den {1} von Tensor {2} sind die ersten {3} da.',
  'None of the files is there.': 'Keine der Dateien ist da.',
  'Tensor {} is of type {}, whose layout is not known, so its bytes cannot be read.':
    'Tensor {0} hat den Typ {1}, dessen Layout nicht bekannt ist; seine Byte können daher nicht gelesen werden.',
  'Tensor {} has {~}: rows must be [from, to], not {~}.':
    'Tensor {0} hat {1}: rows muss [von, bis] sein, nicht {2}.',
  'Rows of {} are no whole blocks of {}: tensor {} cannot be {}. It may be of an early build: { superBlock: 64 }.':
    'Zeilen von {0} sind keine ganzen Blöcke von {1}: Tensor {2} kann nicht {3} sein. Vielleicht stammt er von einer frühen Version: { superBlock: 64 }.',
  'The file that holds tensor {} is not there.': 'Die Datei, die Tensor {0} enthält, ist nicht da.',
  'open() takes an address, a Blob or File, bytes or a ByteSource, not {}.':
    'open() nimmt eine Adresse, ein Blob oder File, Byte oder eine ByteSource, nicht {0}.',
  'A ByteSource needs a size or a stream function.':
    'Eine ByteSource braucht eine Größe oder eine Funktion stream.',
  'The file is longer than {} bytes.': 'Die Datei ist länger als {0} Byte.',
  'The header is not whole after {}: this is no GGUF file.':
    'Der Kopf ist nach {0} nicht vollständig: Dies ist keine GGUF-Datei.',
  'There is nothing to open: the list is empty.': 'Es gibt nichts zu öffnen: Die Liste ist leer.',
  'The size of {} is not known: download it, and open the copy.':
    'Die Größe von {0} ist nicht bekannt: Laden Sie die Datei herunter und öffnen Sie die Kopie.',
  '{} is a part of {}, which was cut into {}: {} is missing.':
    '{0} ist ein Teil von {1}, das in {2} zerlegt wurde: {3} fehlt.',
  '{} is no part of {}.': '{0} ist kein Teil von {1}.',
  '{~} of the {~} of this model is missing: {~}. What is there can be opened with allowMissingShards.':
    '{0} von {1} dieses Modells fehlt: {2}. Was da ist, lässt sich mit allowMissingShards öffnen.',
  '{~} of the {~} of this model are missing: {~}. What is there can be opened with allowMissingShards.':
    '{0} von {1} dieses Modells fehlen: {2}. Was da ist, lässt sich mit allowMissingShards öffnen.',
  'Several files were given that are not the shards of one model: {~}.':
    'Es wurden mehrere Dateien angegeben, die nicht die Teile eines Modells sind: {0}.',
  '{} and {} both say that they are shard {} of {} (split.no).':
    '{0} und {1} sagen beide, sie seien Teil {2} von {3} (split.no).',
  'This is a concatenation of the files of a split model: another GGUF file begins after the data, at byte {}. No program reads such a file. Split it where the files begin, and merge them.':
    'Dies sind aneinandergehängte Dateien eines geteilten Modells: Nach den Daten beginnt bei Byte {0} eine weitere GGUF-Datei. Kein Programm liest das. Teilen Sie sie dort, wo die Dateien beginnen, und führen Sie sie zusammen.',
  'This is one of {~} of a split model, and its name does not tell those of the others. Give all of them to open(), or allowMissingShards.':
    'Dies ist einer von {0} eines geteilten Modells, und sein Name verrät die der anderen nicht. Geben Sie alle an open(), oder allowMissingShards.',
  'This file was closed: open it again.':
    'Diese Datei wurde geschlossen: Öffnen Sie sie neu, um daraus zu lesen.',
  'The preview left out arrays of this header: {~}.': 'Die Vorschau ließ Arrays dieses Kopfes weg: {0}.',
  'No memory for {} more bytes after the first {} of the header.':
    'Kein Speicher für {0} weitere Byte nach den ersten {1} des Kopfes.',
  'An array of elements of type {} has no typed array.':
    'Für ein Array von Elementen des Typs {0} gibt es kein typisiertes Array.',
  'This is a model container from before GGUF, which ends where the file ends, and the size of the file is not known.':
    'Dies ist ein Modell-Container aus der Zeit vor GGUF, der mit der Datei endet, und die Größe der Datei ist nicht bekannt.',
  '{} holds no GGUF file. Its page: {}': '{0} enthält keine GGUF-Datei. Die Seite: {1}',
  'This audio cannot be decoded: {~}': 'Diese Tonaufnahme kann nicht dekodiert werden: {0}',
  'This image cannot be decoded: {~}': 'Dieses Bild kann nicht dekodiert werden: {0}',
  '{~} is no JSON object: {~}': '{0} ist kein JSON-Objekt: {1}',
  'Tensor {} cannot become {} without importance ({}): {~}':
    'Tensor {0} kann ohne Wichtigkeiten nicht zu {1} werden ({2}): {3}',
  'This page may not share an engine: {~}': 'Diese Seite darf keine Engine teilen: {0}',
  'The graphics card has no room for {} MB: {~}': 'Die Grafikkarte hat keinen Platz für {0} MB: {1}',
  'The package webgpu does not start: {~}': 'Das Paket webgpu startet nicht: {0}',
  'The package {} does not start: {~}': 'Das Paket {0} startet nicht: {1}',
  'The graphics card cannot be used: {~}': 'Die Grafikkarte kann nicht verwendet werden: {0}',
  'The graphics card refuses the kernel {}: {~}': 'Die Grafikkarte lehnt den Kernel {0} ab: {1}',
  '{} lists no files of {}: {~}': '{0} listet keine Dateien von {1} auf: {2}',
  'This browser does not open its private file system: {~}':
    'Dieser Browser öffnet sein privates Dateisystem nicht: {0}',
  'The stored bytes of {} are damaged at byte {}, and could not be fetched again: {~}':
    'Die gespeicherten Bytes von {0} sind bei Byte {1} beschädigt und konnten nicht noch einmal geladen werden: {2}',
  "The template's variables cannot be written as JSON: {~}":
    'Die Variablen des Templates lassen sich nicht als JSON schreiben: {0}',
  '{} lists no files of {}.': '{0} listet keine Dateien von {1} auf.',
  '{} answered {} with JSON that is no list.': '{0} antwortete {1} mit JSON, das keine Liste ist.',
  'A repository is a text, or what parseHubAddress() returns, not {}.':
    'Ein Repository ist ein Text oder was parseHubAddress() liefert, nicht {0}.',
  '{} names no repository. Give owner/name, hf:owner/name, ms:owner/name, ollama:name:tag, github:owner/name@tag, or its page.':
    '{0} nennt kein Repository. Geben Sie owner/name, hf:owner/name, ms:owner/name, ollama:name:tag, github:owner/name@tag oder seine Seite an.',
  'It has: {~}.': 'Es hat: {0}.',
  '{} of {} may be any of: {~}.': '{0} von {1} kann jede von diesen sein: {2}.',
  '{} of {} is not whole: {~} of its {~} is missing.':
    '{0} von {1} ist nicht vollständig: {2} von {3} fehlt.',
  '{} of {} is not whole: {~} of its {~} are missing.':
    '{0} von {1} ist nicht vollständig: {2} von {3} fehlen.',
  '{} answered {} with something else than JSON.': '{0} antwortete {1} mit etwas anderem als JSON.',
  'This BMP cannot be read: {~}.': 'Dieses BMP kann nicht gelesen werden: {0}.',
  'BMP files of {} bits with compression {} are not read.':
    'BMP-Dateien von {0} Bit mit Kompression {1} werden nicht gelesen.',
  'A part of type {} has its address in {}.url.': 'Ein Teil vom Typ {0} hat seine Adresse in {1}.url.',
  'A part of type {} lacks its content, {}.': 'Einem Teil vom Typ {0} fehlt sein Inhalt, {1}.',
  'A part of type input_audio has base64 in input_audio.data.':
    'Ein Teil vom Typ input_audio hat base64 in input_audio.data.',
  'A part of type file has a data: address in file.file_data.':
    'Ein Teil vom Typ file hat eine data:-Adresse in file.file_data.',
  'Videos are not supported: send images.': 'Videos werden nicht unterstützt: Schicken Sie Bilder.',
  'The chat template leaves out images or audio: it wrote {} of {}.':
    'Das Chat-Template lässt Bilder oder Ton weg: Es schrieb {0} von {1}.',
  '{~} is not in base64.': '{0} ist nicht in base64.',
  '{~} is given by a data: address; others are not fetched.':
    '{0} wird mit einer data:-Adresse angegeben; andere werden nicht geladen.',
  'This image cannot be decoded.': 'Dieses Bild kann nicht dekodiert werden.',
  '{~} has the media type "{}": images, audio and texts are understood.':
    '{0} hat den Medientyp "{1}": Verstanden werden Bilder, Ton und Texte.',
  '{~} is no text in UTF-8.': '{0} ist kein Text in UTF-8.',
  'An image is { width, height, data }, a Blob, bytes, { base64 } or a data: address.':
    'Ein Bild ist { width, height, data }, ein Blob, Byte, { base64 } oder eine data:-Adresse.',
  'This PNG cannot be read: {~}.': 'Dieses PNG kann nicht gelesen werden: {0}.',
  'An image of {} x {} pixels cannot be taken: it must have from 1 to {}.':
    'Ein Bild von {0} x {1} Pixeln geht nicht: Es muss 1 bis {2} haben.',
  "An image's pixels are bytes from 0 to 255, not {}.":
    'Die Pixel eines Bildes sind Byte von 0 bis 255, nicht {0}.',
  'An image of {} x {} pixels has 3 or 4 bytes for each, not {} in all.':
    'Ein Bild von {0} x {1} Pixeln hat 3 oder 4 Byte je Pixel, nicht {2} insgesamt.',
  'Only PNG and BMP images can be read here: install the package sharp, or decode others to { width, height, data } first.':
    'Hier können nur PNG und BMP gelesen werden: Installieren Sie das Paket sharp, oder dekodieren Sie andere vorher zu { width, height, data }.',
  'This image cannot be taken: it has more than {} pixels.':
    'Dieses Bild geht nicht: Es hat mehr als {0} Pixel.',
  '{} needs its memory in bytes.': '{0} braucht seinen Speicher in Byte.',
  'The file holds no model that runs by itself: there is no memory to estimate.':
    'Die Datei enthält kein Modell, das allein läuft: Es gibt keinen Speicher zu schätzen.',
  '{} is missing or 0': '{0} fehlt oder ist 0',
  '{} is missing or 0, so the number of layers is unknown':
    '{0} fehlt oder ist 0; die Zahl der Schichten ist unbekannt',
  '{} is missing or 0, so the size of keys and values is unknown':
    '{0} fehlt oder ist 0; die Größe von Keys und Values ist unbekannt',
  'layer {} has no tensors': 'Schicht {0} hat keine Tensoren',
  'a model that speaks by itself drafts nothing': 'ein Modell, das selbst spricht, entwirft nichts',
  'the file for mmproj is of the kind {}': 'die Datei für mmproj ist von der Art {0}',
  'the file for lora is of the kind {}': 'die Datei für lora ist von der Art {0}',
  "none of its matrices gives rows of {}, the model's width: they give {~}":
    'keine seiner Matrizen ergibt Zeilen der Breite {0} des Modells: Sie ergeben {1}',
  'Nothing is estimated, because no loader takes {~}: {~}.':
    'Nichts wird geschätzt, weil kein Programm {0} nimmt: {1}.',
  'What the architecture {} of {~} stores is not known.':
    'Was die Architektur {0} von {1} speichert, ist nicht bekannt.',
  'The WebAssembly module {} could not be started: {~}. Say where it is by the option assets.':
    'Das WebAssembly-Modul {0} konnte nicht gestartet werden: {1}. Sagen Sie mit der Option assets, wo es ist.',
  'There is no memory for {} bytes.': 'Für {0} Byte ist kein Speicher da.',
  'This needs {}, which Node 20.16 or newer has.': 'Dafür ist {0} nötig, das Node 20.16 oder neuer hat.',
  'The schema at {} {~}.': 'Das Schema bei {0}: {1}.',
  'The schema nests too deep, or has too many properties in one object.':
    'Das Schema ist zu tief verschachtelt oder hat zu viele Eigenschaften in einem Objekt.',
  'An address is a string or a URL, not {}.': 'Eine Adresse ist ein Text oder eine URL, nicht {0}.',
  'Message {} has the role {~}. Roles are {~}, and what the chat template names.':
    'Nachricht {0} hat die Rolle {1}. Rollen sind {2} und was die Chatvorlage nennt.',
  '"{~}" names no file. Give hf:owner/name/file.gguf, hf:owner/name@revision/file.gguf, or its page.':
    '"{0}" nennt keine Datei. Geben Sie hf:owner/name/file.gguf, hf:owner/name@revision/file.gguf oder ihre Seite an.',
  'There is no range of {} at {}.': 'Es gibt keinen Bereich von {0} bei {1}.',
  'The file has {~}: the {~} at {} are not all there. It may have been cut.':
    'Die Datei hat {0}: Die {1} bei {2} sind nicht alle da. Vielleicht wurde sie abgeschnitten.',
  '{} cannot be read any more: it was changed, moved or deleted. Choose it again.':
    '{0} kann nicht mehr gelesen werden: Die Datei wurde geändert, verschoben oder gelöscht. Wählen Sie sie neu.',
  'It asks for a token.': 'Er verlangt ein Token.',
  'The file may be gated, or the link expired: open its page, accept the terms, give a token.':
    'Die Datei ist vielleicht zugangsbeschränkt, oder der Link ist abgelaufen: Öffnen Sie ihre Seite, nehmen Sie die Bedingungen an, geben Sie ein Token an.',
  'Check the address.': 'Prüfen Sie die Adresse.',
  'It is gone.': 'Sie ist nicht mehr da.',
  'Wait a while and try again.': 'Warten Sie etwas und versuchen Sie es erneut.',
  'Try again later.': 'Versuchen Sie es später noch einmal.',
  '{} answered {} for {}.': '{0} antwortete {1} für {2}.',
  'The connection to {} was lost at byte {}{~}.': 'Die Verbindung zu {0} ging bei Byte {1} verloren{2}.',
  'The connection to {} was lost at byte {}.': 'Die Verbindung zu {0} ging bei Byte {1} verloren.',
  '{} does not let other sites read this file (no CORS headers). Download it and open it from your disk, or ask for "Access-Control-Allow-Origin" on the server.':
    '{0} lässt andere Seiten diese Datei nicht lesen (keine CORS-Header). Laden Sie sie herunter und öffnen Sie sie von Ihrer Festplatte, oder bitten Sie um "Access-Control-Allow-Origin" auf dem Server.',
  '{} could not be reached. Check the address and the connection.':
    '{0} war nicht zu erreichen. Prüfen Sie Adresse und Verbindung.',
  '{} could not be reached: {~}. Check the address and the connection.':
    '{0} war nicht zu erreichen: {1}. Prüfen Sie Adresse und Verbindung.',
  'It asks to wait {} s.': 'Der Server bittet, {0} s zu warten.',
  '{} on {} was replaced while it was read. Open it again.':
    '{0} auf {1} wurde beim Lesen ersetzt. Öffnen Sie sie neu.',
  '{} ignores byte ranges: to reach byte {}, everything before would have to be downloaded. Download the file and open it from your disk.':
    '{0} ignoriert Byte-Bereiche: Um Byte {1} zu erreichen, müsste alles davor geladen werden. Laden Sie die Datei herunter und öffnen Sie sie von Ihrer Festplatte.',
  '{} sent the range at byte {} compressed or in several parts, and neither can be read. Download the file and open it from your disk.':
    '{0} hat den Bereich bei Byte {1} komprimiert oder in mehreren Teilen gesendet, und beides ist nicht lesbar. Laden Sie die Datei herunter und öffnen Sie sie von Ihrer Festplatte.',
  '{} was asked for byte {} and sent byte {}. Download the file and open it from your disk.':
    '{0} wurde nach Byte {1} gefragt und schickte Byte {2}. Laden Sie die Datei herunter und öffnen Sie sie von Ihrer Festplatte.',
  '{} has only {} of {}: there is no byte {}.': '{0} hat nur {1} von {2}: Es gibt kein Byte {3}.',
  '{} was closed.': '{0} wurde geschlossen.',
  '{} is a folder. Name a file in it.': '{0} ist ein Ordner. Nennen Sie eine Datei darin.',
  '{} is no regular file.': '{0} ist keine gewöhnliche Datei.',
  'What the preview showed of this file is not what its header says: it was made to mislead, or is damaged. Open it with preview: "full".':
    'Was die Vorschau dieser Datei zeigte, steht nicht in ihrem Kopf: Sie soll täuschen oder ist beschädigt. Öffnen Sie sie mit preview: "full".',
  'Nothing can be stored here: this needs a browser with a private file system, and a page on https:// or localhost.':
    'Hier kann nichts gespeichert werden: Das braucht einen Browser mit privatem Dateisystem und eine Seite auf https:// oder localhost.',
  '{} was removed from the store by another page or program. Load it again.':
    '{0} wurde von einer anderen Seite oder einem Programm aus dem Speicher entfernt. Laden Sie es neu.',
  '{} cannot be stored: {~}. Set XDG_CACHE_HOME to another folder.':
    '{0} kann nicht gespeichert werden: {1}. Setzen Sie XDG_CACHE_HOME auf einen anderen Ordner.',
  'There is no room for more of {}: remove stored models or free space on the disk.':
    'Für mehr von {0} ist kein Platz: Entfernen Sie gespeicherte Modelle, oder schaffen Sie Platz auf der Festplatte.',
  '{} was cut while it was read.': '{0} wurde beim Lesen abgeschnitten.',
  'The folder for kept files could not be made in {}: {~}. Set XDG_CACHE_HOME to another folder.':
    'Der Ordner für behaltene Dateien konnte in {0} nicht angelegt werden: {1}. Setzen Sie XDG_CACHE_HOME auf einen anderen Ordner.',
  '{} gives no ranges of {}, or does not tell its size: it cannot be kept in parts. Load it without cache.':
    '{0} gibt keine Bereiche von {1} oder nennt die Größe nicht: Die Datei kann nicht in Teilen behalten werden. Laden Sie sie ohne Cache.',
  '{} takes {} more, and there is room for {}: remove stored models or free space on the disk.':
    '{0} braucht weitere {1}, und Platz ist für {2}: Entfernen Sie gespeicherte Modelle, oder schaffen Sie Platz auf der Festplatte.',
  '{} was replaced while it was read. Load it again.': '{0} wurde beim Lesen ersetzt. Laden Sie es neu.',
  "The received bytes of {} do not match the server's hash. They were removed: load the file again.":
    'Die empfangenen Byte von {0} passen nicht zum Hash des Servers. Sie wurden entfernt: Laden Sie die Datei neu.',
  '{} was replaced while it was read. What was stored was removed: load the file again.':
    '{0} wurde beim Lesen ersetzt. Was gespeichert war, wurde entfernt: Laden Sie die Datei neu.',
  'There is no room for the file.': 'Für die Datei ist kein Platz.',
  "quantize() takes a type's name and a Float32Array, not {} and an array.":
    'quantize() nimmt den Namen eines Typs und ein Float32Array, nicht {0} und ein Array.',
  "quantize() takes a type's name and a Float32Array, not {} and {}.":
    'quantize() nimmt den Namen eines Typs und ein Float32Array, nicht {0} und {1}.',
  'There is no quantizer of type {}.': 'Es gibt keinen Quantisierer für den Typ {0}.',
  'Type {} cannot be quantized without importance.':
    'Typ {0} kann ohne Wichtigkeiten nicht quantisiert werden.',
  '{} floats in rows of {} are no whole blocks of {}, which {} needs.':
    '{0} Zahlen in Zeilen von {1} sind keine ganzen Blöcke von {2}, die {3} braucht.',
  'options.against.file is no file of this package.': 'options.against.file ist keine Datei dieses Pakets.',
  'Tensors {} and {} differ in shape: there is no error between them.':
    'Die Tensoren {0} und {1} haben verschiedene Formen: Zwischen ihnen gibt es keinen Fehler zu messen.',
  'There is no memory for {} floats: dequantize fewer rows at a time.':
    'Für {0} Zahlen ist kein Speicher da: Dequantisieren Sie weniger Zeilen auf einmal.',
  'Rows of tensor {} have {~}: columns must be [from, to], not {~}.':
    'Zeilen von Tensor {0} haben {1}: columns muss [von, bis] sein, nicht {2}.',
  'Tensor {} has blocks of {~}: columns {} to {} are no whole blocks.':
    'Tensor {0} hat Blöcke von {1}: Die Spalten {2} bis {3} sind keine ganzen Blöcke.',
  '{~}: the format {} is used.': '{0}: Verwendet wird das Format {1}.',
  'A text must be a string, bytes, a Blob, a stream or an iterable of strings or bytes.':
    'Ein Text muss ein String sein, Byte, ein Blob, ein Strom oder eine Folge von Strings oder Byte.',
  'The pieces of a text must be strings or UTF-8 bytes.':
    'Die Stücke eines Textes müssen Strings oder UTF-8-Byte sein.',
  'tokenizer.huggingface.json is no JSON.': 'tokenizer.huggingface.json ist kein JSON.',
  'tokenizer.huggingface.json has no model.vocab.': 'tokenizer.huggingface.json hat kein model.vocab.',
  'The known formats are not loaded: await file.loadTokenizer() first.':
    'Die bekannten Formate sind nicht geladen: zuerst await file.loadTokenizer().',
  'The file has no chat template "{}", and its vocabulary suggests none: the option template may name a known format, such as "chatml".':
    'Die Datei hat kein Chat-Template "{0}", und ihr Vokabular legt keines nahe: Die Option template kann ein bekanntes Format nennen, etwa "chatml".',
  'The file has no chat template "{}", but {~}, and there is no known format of that name.':
    'Die Datei hat kein Chat-Template "{0}", aber {1}, und es gibt kein bekanntes Format dieses Namens.',
  "To continue, the last message must be an assistant's, with text as its content and without calls.":
    'Zum Fortsetzen muss die letzte Nachricht vom Assistenten sein, mit Text als Inhalt und ohne Aufrufe.',
  'The chat template does not show the last message, which is to be continued.':
    'Das Chat-Template zeigt die letzte Nachricht nicht, die fortgesetzt werden soll.',
  'No memory for {} bytes of a conversation.': 'Kein Speicher für {0} Byte einer Unterhaltung.',
  'Tokens are a list of their ids, not {}.': 'Token sind eine Liste ihrer Nummern, nicht {0}.',
  'No memory for {} of the vocabulary.': 'Kein Speicher für {0} des Vokabulars.',
  'A text of {} is too long: 1 GiB is the most.': 'Ein Text von {0} ist zu lang: Höchstens 1 GiB.',
  'A text must be a string or UTF-8 bytes.': 'Ein Text muss ein String oder UTF-8-Byte sein.',
  'the file': 'die Datei',
  'the draft model with this model': 'das Entwurfsmodell mit diesem Modell',
  'it as a projector': 'sie als Projektor',
  'it as an adapter': 'sie als Adapter',
  'the projector with this model': 'den Projektor mit diesem Modell',
  'the adapter': 'den Adapter',
  'the adapter with this model': 'den Adapter mit diesem Modell',
  'the draft model': 'das Entwurfsmodell',
  'questions.{~}: {~}': 'questions.{0}: {1}',
  'no single-token label left for {} options':
    'Für {0} Optionen ist keine Beschriftung aus einem Token übrig',
  'the options do not fit in the context': 'Die Optionen passen nicht in den Kontext',
  'the instructions and the options of a question must not be empty':
    'Anweisungen und Optionen einer Frage dürfen nicht leer sein',
  '"criteria" must be a non-empty object': '„criteria“ muss ein Objekt sein, das nicht leer ist',
  'option keys must be non-empty, descriptions must be null, text, an object or an array':
    'Schlüssel von Optionen dürfen nicht leer sein; Beschreibungen müssen null, Text, ein Objekt oder ein Array sein',
  '"criteria" must have at least 2 options': '„criteria“ muss mindestens 2 Optionen haben',
  '"criteria" must be an array of 2 to 10 levels': '„criteria“ muss ein Array von 2 bis 10 Stufen sein',
  'level descriptions must be text, an object or an array':
    'Beschreibungen von Stufen müssen Text, ein Objekt oder ein Array sein',
  '"criteria" must be an object': '„criteria“ muss ein Objekt sein',
  '"criteria" may only describe "false" and "true" with text, an object or an array':
    '„criteria“ darf nur „false“ und „true“ beschreiben, mit Text, einem Objekt oder einem Array',
  'must be an object': 'muss ein Objekt sein',
  '"instructions" must be provided': '„instructions“ muss angegeben sein',
  '"instructions" must be non-empty text, an object or an array':
    '„instructions“ muss ein Text, der nicht leer ist, ein Objekt oder ein Array sein',
  '"type" must be one of: choice, score, noul': '„type“ muss eines von diesen sein: choice, score, noul',
  'too many options ({}), this model supports at most {}':
    'Zu viele Optionen ({0}): Dieses Modell kann höchstens {1}',
  '"state" must be provided': '„state“ muss angegeben sein',
  '"state" must be text, an object or an array': '„state“ muss Text, ein Objekt oder ein Array sein',
  '"questions" must be a non-empty object': '„questions“ muss ein Objekt sein, das nicht leer ist',
  '"{~}" is no address.': '„{0}“ ist keine Adresse.',
  'open() of "ggufscope" cannot read {}.': 'open() aus "ggufscope" kann {0} nicht lesen.',
  'For paths, import open from "ggufscope/node".': 'Importieren Sie open für Pfade aus "ggufscope/node".',
  'A page cannot read {}.': 'Eine Seite kann {0} nicht lesen.',
}
