// The panel Memory: computers, what a model takes, and what fits.
export const memory = {
  'The numbers of a computer leave out what the operating system, the screen and other programs take.':
    'Die Zahlen eines Computers lassen aus, was das Betriebssystem, der Bildschirm und andere Programme belegen.',
  '{gpuLayers} of {n} layer on the card, the output counted|{gpuLayers} of {n} layers on the card, the output counted':
    '{gpuLayers} von {n} Schicht auf der Karte, die Ausgabe mitgezählt|{gpuLayers} von {n} Schichten auf der Karte, die Ausgabe mitgezählt',
  '{memory} of memory or more, as the browser tells': '{memory} Speicher oder mehr, wie der Browser mitteilt',
  'A page of this browser': 'Eine Seite dieses Browsers',
  'As many layers on the card as fit': 'So viele Schichten auf die Karte, wie passen',
  'At most about {tokensPerSecond} tokens a second, by the speed of the memory.':
    'Höchstens etwa {tokensPerSecond} Token pro Sekunde, nach der Geschwindigkeit des Speichers.',
  'buffers of up to {buffer}, of which a shader reads up to {binding} at once. The model’s largest weights have {weights}: {verdict}. On the card, the model takes about {needed}; WebGPU does not tell how much memory the card has. The panel Run uses it if you ask for it.':
    'Puffer bis {buffer}, von denen ein Shader bis {binding} auf einmal liest. Die größten Gewichte des Modells haben {weights}: {verdict}. Auf der Karte braucht das Modell etwa {needed}; wie viel Speicher die Karte hat, verrät WebGPU nicht. Der Bereich „Ausführen“ nutzt sie, wenn Sie es wünschen.',
  'Cached keys': 'Keys im Cache',
  'Cached values': 'Values im Cache',
  Computer: 'Computer',
  'Computer and settings': 'Computer und Einstellungen',
  'Computer memory, GiB': 'RAM, GiB',
  'Computer speed, GB/s': 'RAM-Tempo, GB/s',
  'Desktop, 32 GiB, no graphics card': 'Desktop, 32 GiB, keine Grafikkarte',
  'Experts of {n} layer stay with the processor|Experts of {n} layers stay with the processor':
    'Experten von {n} Schicht bleiben beim Prozessor|Experten von {n} Schichten bleiben beim Prozessor',
  'Graphics card': 'Grafikkarte',
  'Graphics card of 12 GiB': 'Grafikkarte mit 12 GiB',
  'Graphics card of 16 GiB': 'Grafikkarte mit 16 GiB',
  'Graphics card of 24 GiB': 'Grafikkarte mit 24 GiB',
  'Graphics card of 32 GiB': 'Grafikkarte mit 32 GiB',
  'Graphics card of 8 GiB': 'Grafikkarte mit 8 GiB',
  'Graphics memory, GiB': 'Grafikspeicher, GiB',
  'Graphics speed, GB/s': 'Grafiktempo, GB/s',
  'In this browser, on this device': 'In diesem Browser, auf diesem Gerät',
  'it does not fit': 'es passt nicht',
  'It does not fit': 'Es passt nicht',
  'it fits': 'es passt',
  'It fits': 'Es passt',
  'It takes about {bytes} with {tokens} of context and a cache in F16. A page can have {limit}: {verdict}.':
    'Es braucht etwa {bytes} bei {tokens} Kontext und einem Cache in F16. Eine Seite kann {limit} haben: {verdict}.',
  'It takes about {bytes}. A page can have {limit}: {verdict}.':
    'Es braucht etwa {bytes}. Eine Seite kann {limit} haben: {verdict}.',
  'Laptop, 16 GiB, no graphics card': 'Laptop, 16 GiB, keine Grafikkarte',
  'Longest that fits: {largestContext}': 'Längster, der passt: {largestContext}',
  'Mac, 16 GiB shared': 'Mac, 16 GiB gemeinsam',
  'Mac, 64 GiB shared': 'Mac, 64 GiB gemeinsam',
  'No context fits.': 'Kein Kontext passt.',
  'not in this browser': 'nicht in diesem Browser',
  'Own numbers': 'Eigene Zahlen',
  'Run it here': 'Hier ausführen',
  'Phone, 8 GiB': 'Smartphone, 8 GiB',
  'Server card of 80 GiB': 'Serverkarte mit 80 GiB',
  'The model was trained for {n} token.|The model was trained for {n} tokens.':
    'Das Modell wurde für {n} Token trainiert.|Das Modell wurde für {n} Token trainiert.',
  'This architecture keeps no keys and values of earlier tokens.':
    'Diese Architektur speichert keine Keys und Values früherer Token.',
  'A page computes {n} tokens at a time, and llama.cpp 512, so that a page takes less.':
    'Eine Seite rechnet {n} Token auf einmal, llama.cpp 512; deshalb braucht die Seite weniger.',
  'Memory is that of llama.cpp, on all devices together.':
    'Der Speicher ist der von llama.cpp, auf allen Geräten zusammen.',
  'with llama.cpp': 'mit llama.cpp',
  'with llama.cpp, on both devices together': 'mit llama.cpp, auf beiden Geräten zusammen',
  'This device': 'Dieses Gerät',
  'WebAssembly, 32-bit': 'WebAssembly, 32 Bit',
  'WebAssembly, 64-bit': 'WebAssembly, 64 Bit',
  WebGPU: 'WebGPU',
  'Weights and cache are those of llama.cpp; intermediate results are an estimate.':
    'Gewichte und Cache sind die von llama.cpp; Zwischenergebnisse sind geschätzt.',
  'What it takes': 'Was es braucht',
  'Numbers of the computer': 'Zahlen des Computers',
  'Cache and layers': 'Cache und Schichten',
  'Memory is in GiB of 1,024 MiB, files in GB of 1,000 MB.':
    'Speicher steht in GiB zu 1.024 MiB, Dateien in GB zu 1.000 MB.',
}
