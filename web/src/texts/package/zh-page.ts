// What the package says, in Chinese: errors of the package's own code. The English text is the key; see zh.ts.
export default {
  '{} gave no ranges of the file, as it did before.': '{0} 不再像之前那样返回文件的区段。',
  'Audio must have one Float32Array for each channel, all of the same length.':
    '音频的每个声道必须是一个 Float32Array，且长度相同。',
  'sampleRate must be a whole number from {} to {}, not {}.':
    'sampleRate 必须是 {0} 到 {1} 的整数，不是 {2}。',
  'This audio cannot be decoded.': '无法解码此音频。',
  'This audio has no bytes.': '此音频没有字节。',
  'Only WAV files can be decoded here: in Node, install the package audio-decode, or decode other files to { samples, sampleRate } first.':
    '这里只能解码 WAV 文件：在 Node 中安装 audio-decode 包，或先将其他文件解码为 { samples, sampleRate }。',
  'Audio must be a Float32Array at 16 kHz, { samples, sampleRate }, an AudioBuffer, or a file, such as WAV: its bytes, a Blob, { base64 } or a data: address.':
    '音频必须是 16 kHz 的 Float32Array、{ samples, sampleRate }、AudioBuffer，或 WAV 之类的文件：其字节、Blob、{ base64 } 或 data: 地址。',
  'A block of the stream is not a Float32Array.': '流的某一块不是 Float32Array。',
  'A WAV file of {} Hz at byte {}: audio has from {} to {} samples per second.':
    '字节 {1} 处的 WAV 文件为 {0} Hz：音频每秒应有 {2} 到 {3} 个采样。',
  'The WAV file claims {} of samples, but has {}: the audio may be cut.':
    'WAV 文件声称有 {0} 采样，但只有 {1}：音频可能被截断。',
  'This projector has no {} encoder: it cannot read images.': '此投影器没有 {0} 编码器：不能读取图像。',
  'This projector has no {} encoder: it cannot read audio.': '此投影器没有 {0} 编码器：不能读取音频。',
  'The model was loaded without a projector: it can read neither images nor audio.':
    '模型加载时没有投影器：不能读取图像或音频。',
  'Adapters are a list of { source, scale }, not {}.': '适配器是 { source, scale } 的列表，不是 {0}。',
  'An adapter is { source, scale }, not {}.': '适配器是 { source, scale }，不是 {0}。',
  "An adapter's layers must be [first, last], not {}.": '适配器的层必须是 [first, last]，不是 {0}。',
  'The engine was not started.': '引擎未启动。',
  'The engine crashed ({~}). Its model is closed: load it again.':
    '引擎崩溃（{0}）。其模型已关闭：请重新加载。',
  'The engine on the graphics card crashed: {~}.': '显卡上的引擎崩溃了：{0}。',
  'The graphics card was lost: {~}.': '显卡已丢失：{0}。',
  'The graphics card failed: {~}': '显卡出错：{0}',
  'WebGPU does not work here: {~}': 'WebGPU 在此处无法工作：{0}',
  'Node has no WebGPU: install the package webgpu.': 'Node 没有 WebGPU：请安装 webgpu 包。',
  'No memory for {} bytes.': '没有 {0} 字节的内存。',
  'A Parakeet model cannot be run: its decoder is a transducer, which this engine does not have. It can be opened and converted.':
    'Parakeet 模型不能运行：其解码器是 transducer，此引擎没有。可以打开和转换。',
  'A {} container from before GGUF cannot be run: convert the file first.':
    'GGUF 之前的 {0} 容器不能运行：请先转换文件。',
  'This file has no weights (a vocabulary alone): it can be opened, not run.':
    '此文件没有权重（只有词表）：可以打开，不能运行。',
  'This file has no weights ({~}): it can be opened, not run.': '此文件没有权重（{0}）：可以打开，不能运行。',
  'A Whisper model does not take a projector.': 'Whisper 模型不接受投影器。',
  'A Whisper model does not take a draft model.': 'Whisper 模型不接受草稿模型。',
  'A Whisper model does not take adapters.': 'Whisper 模型不接受适配器。',
  'A Whisper model cannot be a draft model.': 'Whisper 模型不能作草稿模型。',
  'This medium cannot be decoded.': '无法解码此媒体。',
  "What is encoded is { type: 'image', image } or { type: 'audio', audio }.":
    "编码的应为 { type: 'image', image } 或 { type: 'audio', audio }。",
  'WebAssembly has no 64-bit memory (memory64) here.': '这里的 WebAssembly 没有 64 位内存（memory64）。',
  'The variant with 64-bit memory needs relaxed SIMD, which is missing here.':
    '64 位内存的变体需要 relaxed SIMD，这里没有。',
  '{~}. The model cannot continue on the CPU: {~}.': '{0}。模型不能在 CPU 上继续：{1}。',
  'A Whisper model transcribes speech. It does not generate text.': 'Whisper 模型转写语音。它不生成文本。',
  'A model of architecture {} cannot transcribe: a Whisper model is needed.':
    '架构为 {0} 的模型不能转写：需要 Whisper 模型。',
  'All {} forks of this model are in use: close one, or load it with more maxForks.':
    '此模型的 {0} 个分叉都在使用：请关闭一个，或用更多 maxForks 加载。',
  'An answer can have a grammar or a schema, not both.': '回答可以有语法或模式，不能两者都有。',
  'This is what the device says it has; memoryLimit allows more.':
    '这是设备所说的容量；memoryLimit 可允许更多。',
  'The graphics card is faster here: {~}': '此处显卡更快：{0}',
  'The CPU is faster here: {~}': '此处 CPU 更快：{0}',
  'The devices could not be compared: {}': '无法比较设备：{0}',
  'This model needs {} on the graphics card, and memoryLimit is {}.':
    '此模型在显卡上需要 {0}，而 memoryLimit 为 {1}。',
  'Whisper models cannot run in 64-bit memory.': 'Whisper 模型不能在 64 位内存中运行。',
  'The option {} names the token {}: ids go from 0 to {}.': '选项 {0} 指定了词元 {1}：编号为 0 到 {2}。',
  'The option grammarTriggers holds {}: a trigger is a text, { text, atStart } or { token }.':
    '选项 grammarTriggers 含有 {0}：触发器是文本、{ text, atStart } 或 { token }。',
  'The option stop holds {}, which is no string.': '选项 stop 含有 {0}，它不是字符串。',
  'A logit bias names the token {}: ids go from 0 to {}.': 'logit 偏置指定了词元 {0}：编号为 0 到 {1}。',
  'The logit bias of token {} must be a number, not {}.': '词元 {0} 的 logit 偏置必须是数，不是 {1}。',
  'The option keep of generate() is about messages, which only chat() has.':
    'generate() 的选项 keep 与消息有关，只有 chat() 才有消息。',
  'The option onOverflow of generate() is about messages, which only chat() has.':
    'generate() 的选项 onOverflow 与消息有关，只有 chat() 才有消息。',
  "A prompt is a text or its tokens' ids, not {}.": '提示词是文本或其词元编号，不是 {0}。',
  "A token's id must be a whole number, not {}.": '词元编号必须是整数，不是 {0}。',
  'The system messages and the last turn have more than {} tokens. The rest of the context is for the answer.':
    '系统消息和最后一轮超过 {0} 个词元。上下文的其余部分留给回答。',
  'This model speaks one language: leave out the option language.':
    '此模型只有一种语言：请去掉选项 language。',
  'Decision models of the kind {} read text alone here. Kinds whose options have labels also read images and audio: {}.':
    '{0} 类决策模型在此只读文本。选项带标签的类别也能读图像和音频：{1}。',
  'The model\'s template "systemone" leaves out images or audio: it wrote {} of {}.':
    '模型的模板 systemone 略去了图像或音频：只写了 {1} 个中的 {0} 个。',
  'This model reads words, not phonemes: leave out the option ipa.':
    '此模型读取文字而非音素：请省略选项 ipa。',
  'The voices of this model have no names: a voice is a recording, or a profile.':
    '此模型的声音没有名称：声音是录音或配置文件。',
  'A voice of this model is a name, such as info.voices has them.': '此模型的声音是名称，见 info.voices。',
  'This model has no voice {}, but {}.': '此模型没有声音 {0}，但有 {1}。',
  'This model reads phonemes: pass phonemize(text, language), a function that returns the phonemes of a clause, or phonemes as the text with ipa: true.':
    '此模型读取音素：请传入 phonemize(text, language)，即返回一个分句音素的函数；或以 ipa: true 直接传入音素作为文本。',
  "The file's list of words has neither {} nor names of their letters: left out.":
    '文件的单词表中没有 {0}，也没有其字母的名称：已略去。',
  "The file's list of words has neither {} nor names of their letters: there is nothing to speak.":
    '文件的单词表中没有 {0}，也没有其字母的名称：没有可说的内容。',
  "The file's list of words lacks {}: spelled letter by letter.": '文件的单词表中没有 {0}：已逐个字母读出。',
  'phonemize() must return a string, not {}.': 'phonemize() 必须返回字符串，而不是 {0}。',
  'A model that speaks by itself takes neither a projector nor a draft model nor adapters.':
    '独立说话的模型不接受投影器、草稿模型或适配器。',
  'A model that speaks by itself cannot be a draft model.': '独立说话的模型不能作为草稿模型。',
  'Models that speak by themselves run only on the CPU.': '独立说话的模型只在 CPU 上运行。',
  "This model cannot speak: that needs a model for speech and its projector, such as Pocket TTS's or Qwen3-TTS's, or OuteTTS with WavTokenizer's decoder, or Kokoro.":
    '此模型不能说话：需要语音模型及其投影器，例如 Pocket TTS 或 Qwen3-TTS 的，或者带 WavTokenizer 解码器的 OuteTTS，或者 Kokoro。',
  "The words of a voice's profile must be an array.": '声音配置文件的 words 必须是数组。',
  'Word {} of the voice\'s profile lacks a word without spaces, a number "duration", or an array "codes".':
    '声音配置文件的第 {0} 个词缺少不带空格的词、数字 duration 或数组 codes。',
  'This JSON file is no profile of a voice: it has no "words".':
    '此 JSON 文件不是声音的配置文件：它没有 words。',
  'No memory for audio of {} s.': '没有 {0} 秒音频的内存。',
  'A Whisper model needs audio to evaluate tokens: pass the option audio.':
    'Whisper 模型需要音频来评估词元：请给出选项 audio。',
  "The engine's worker {} could not be started: {~}. Host engine-worker.js and engine-*.wasm (wasm/dist/engine of the package) where this page may load them and say where by the option assets, or workerUrl for the script alone. A content policy must allow the script in worker-src.":
    '引擎的 worker {0} 无法启动：{1}。请把 engine-worker.js 和 engine-*.wasm（包的 wasm/dist/engine）放在此页面可加载之处，并用选项 assets 说明位置，或用 workerUrl 只说明脚本。内容策略必须在 worker-src 中允许该脚本。',
  'There are no workers here, in which WebGPU runs.': '这里没有可运行 WebGPU 的 worker。',
  "There are no workers here, and the engine's code for that case cannot be loaded: {~}. Bundle the script into one file, without splitting.":
    '这里没有 worker，而引擎为此情形的代码无法加载：{0}。请把脚本打包为一个文件，不要拆分。',
  "The page is cross-origin isolated, but not the engine's worker, so there are no threads: its script needs the header Cross-Origin-Embedder-Policy as well.":
    '页面已跨源隔离，但引擎的 worker 没有，因此没有线程：其脚本也需要标头 Cross-Origin-Embedder-Policy。',
  'The page is not cross-origin isolated, so there are no threads.': '页面未跨源隔离，因此没有线程。',
  'This browser has no shared memory (SharedArrayBuffer), so there are no threads.':
    '此浏览器没有共享内存（SharedArrayBuffer），因此没有线程。',
  'There are no workers here, so there are no threads.': '这里没有 worker，因此没有线程。',
  'There is no address space for 64-bit memory.': '没有 64 位内存的地址空间。',
  'The variant with 64-bit memory needs relaxed SIMD, which computes wrong results here.':
    '64 位内存的变体需要 relaxed SIMD，它在这里计算错误。',
  '64-bit memory was requested, or the model needs more than 4 GiB.':
    '要求了 64 位内存，或模型需要超过 4 GiB。',
  'This engine has no relaxed SIMD.': '此引擎没有 relaxed SIMD。',
  'Relaxed SIMD is supported and computes correctly.': '支持 relaxed SIMD，且计算正确。',
  'There is no address space for shared memory, so there are no threads.':
    '没有共享内存的地址空间，因此没有线程。',
  'The vocabulary of a file from before GGUF must be converted: await loadTokenizer() first.':
    'GGUF 之前的文件的词表必须先转换：请先 await loadTokenizer()。',
  '{~} only where the model runs on the CPU.': '{0}仅限模型在 CPU 上运行时。',
  'This model cannot transcribe.': '此模型不能转写。',
  'adapter.lora.alpha is not a finite number, or too large.': 'adapter.lora.alpha 不是有限数，或过大。',
  'adapter.lora.alpha over the rank of {} is above {}.': 'adapter.lora.alpha 除以秩 {0} 大于 {1}。',
  'Tensor {} and {} more are of type {}, which no adapter can have.':
    '张量 {0} 和另外 {1} 个的类型为 {2}，适配器不能有此类型。',
  'Tensor {} is of type {}, which no adapter can have.': '张量 {0} 的类型为 {1}，适配器不能有此类型。',
  'The option allowDamaged, on the command line --force, writes it all the same.':
    '选项 allowDamaged（命令行用 --force）仍会写入。',
  'It cannot be run: get the whole model.': '不能运行：请获取完整的模型。',
  'The file is truncated at byte {}: of the {~} of tensor {} the first {~} are there.':
    '文件在字节 {0} 处被截断：张量 {2} 的 {1} 中只有前 {3}。',
  'None of the files is there.': '没有任何文件。',
  'Tensor {} is of type {}, whose layout is not known, so its bytes cannot be read.':
    '张量 {0} 的类型为 {1}，其布局未知，因此无法读取其字节。',
  'Tensor {} has {~}: rows must be [from, to], not {~}.':
    '张量 {0} 有 {1}：rows 必须是 [from, to]，不是 {2}。',
  'Rows of {} are no whole blocks of {}: tensor {} cannot be {}. It may be of an early build: { superBlock: 64 }.':
    '{0} 的行不是 {1} 的整数个块：张量 {2} 不能是 {3}。可能来自早期版本：{ superBlock: 64 }。',
  'The file that holds tensor {} is not there.': '包含张量 {0} 的文件不在。',
  'open() takes an address, a Blob or File, bytes or a ByteSource, not {}.':
    'open() 接受地址、Blob 或 File、字节或 ByteSource，不是 {0}。',
  'A ByteSource needs a size or a stream function.': 'ByteSource 需要大小或 stream 函数。',
  'The file is longer than {} bytes.': '文件超过 {0} 字节。',
  'The header is not whole after {}: this is no GGUF file.': '读取 {0} 后文件头仍不完整：这不是 GGUF 文件。',
  'There is nothing to open: the list is empty.': '没有可打开的内容：列表为空。',
  'The size of {} is not known: download it, and open the copy.': '{0} 的大小未知：请下载后打开副本。',
  '{} is a part of {}, which was cut into {}: {} is missing.':
    '{0} 是 {1} 的一部分，后者被切成 {2}：缺少 {3}。',
  '{} is no part of {}.': '{0} 不是 {1} 的一部分。',
  '{~} of the {~} of this model is missing: {~}. What is there can be opened with allowMissingShards.':
    '此模型的 {1} 中缺少 {0}：{2}。现有部分可用 allowMissingShards 打开。',
  '{~} of the {~} of this model are missing: {~}. What is there can be opened with allowMissingShards.':
    '此模型的 {1} 中缺少 {0}：{2}。现有部分可用 allowMissingShards 打开。',
  'Several files were given that are not the shards of one model: {~}.':
    '给出的多个文件不是同一模型的分片：{0}。',
  '{} and {} both say that they are shard {} of {} (split.no).':
    '{0} 和 {1} 都说自己是 {3} 个分片中的第 {2} 个（split.no）。',
  'This is a concatenation of the files of a split model: another GGUF file begins after the data, at byte {}. No program reads such a file. Split it where the files begin, and merge them.':
    '这是拆分模型各文件的直接拼接：数据之后在字节 {0} 处开始另一个 GGUF 文件。没有程序读取这样的文件。请在各文件开始处切开，再合并。',
  'This is one of {~} of a split model, and its name does not tell those of the others. Give all of them to open(), or allowMissingShards.':
    '这是拆分模型 {0} 之一，从其名称看不出其他的名称。请把全部交给 open()，或用 allowMissingShards。',
  'This file was closed: open it again.': '此文件已关闭：请重新打开再读取。',
  'The preview left out arrays of this header: {~}.': '预览略去了此文件头的数组：{0}。',
  'No memory for {} more bytes after the first {} of the header.':
    '文件头前 {1} 之后没有再容纳 {0} 字节的内存。',
  'An array of elements of type {} has no typed array.': '类型为 {0} 的元素的数组没有类型化数组。',
  'This is a model container from before GGUF, which ends where the file ends, and the size of the file is not known.':
    '这是 GGUF 之前的模型容器，随文件结束，而文件大小未知。',
  '{} holds no GGUF file. Its page: {}': '{0} 中没有 GGUF 文件。页面：{1}',
  'This audio cannot be decoded: {~}': '无法解码此音频：{0}',
  'This image cannot be decoded: {~}': '无法解码此图像：{0}',
  '{~} is no JSON object: {~}': '{0} 不是 JSON 对象：{1}',
  'Tensor {} cannot become {} without importance ({}): {~}':
    '没有重要性数据，张量 {0} 无法变为 {1}（{2}）：{3}',
  'This page may not share an engine: {~}': '此页面不能共享引擎：{0}',
  'The graphics card has no room for {} MB: {~}': '显卡没有 {0} MB 的空间：{1}',
  'The package webgpu does not start: {~}': 'webgpu 包无法启动：{0}',
  'The package {} does not start: {~}': '{0} 包无法启动：{1}',
  'The graphics card cannot be used: {~}': '无法使用显卡：{0}',
  'The graphics card refuses the kernel {}: {~}': '显卡拒绝内核 {0}：{1}',
  '{} lists no files of {}: {~}': '{0} 没有列出 {1} 的文件：{2}',
  'This browser does not open its private file system: {~}': '此浏览器未能打开其私有文件系统：{0}',
  'The stored bytes of {} are damaged at byte {}, and could not be fetched again: {~}':
    '{0} 的已存字节在字节 {1} 处损坏，且无法重新获取：{2}',
  "The template's variables cannot be written as JSON: {~}": '模板的变量无法写成 JSON：{0}',
  '{} lists no files of {}.': '{0} 没有列出 {1} 的文件。',
  '{} answered {} with JSON that is no list.': '{0} 对 {1} 的回答是 JSON，但不是列表。',
  'A repository is a text, or what parseHubAddress() returns, not {}.':
    '仓库是文本或 parseHubAddress() 返回的内容，不是 {0}。',
  '{} names no repository. Give owner/name, hf:owner/name, ms:owner/name, ollama:name:tag, github:owner/name@tag, or its page.':
    '{0} 没有指定仓库。请给出 owner/name、hf:owner/name、ms:owner/name、ollama:name:tag、github:owner/name@tag 或其页面。',
  'It has: {~}.': '它有：{0}。',
  '{} of {} may be any of: {~}.': '{1} 的 {0} 可能是以下任一：{2}。',
  '{} of {} is not whole: {~} of its {~} is missing.': '{1} 的 {0} 不完整：其 {3} 中缺少 {2}。',
  '{} of {} is not whole: {~} of its {~} are missing.': '{1} 的 {0} 不完整：其 {3} 中缺少 {2}。',
  '{} answered {} with something else than JSON.': '{0} 对 {1} 的回答不是 JSON。',
  'This BMP cannot be read: {~}.': '无法读取此 BMP：{0}。',
  'BMP files of {} bits with compression {} are not read.': '不读取 {0} 位、压缩方式 {1} 的 BMP 文件。',
  'A part of type {} has its address in {}.url.': '类型为 {0} 的部分的地址在 {1}.url。',
  'A part of type {} lacks its content, {}.': '类型为 {0} 的部分缺少内容 {1}。',
  'A part of type input_audio has base64 in input_audio.data.':
    '类型为 input_audio 的部分在 input_audio.data 中有 base64。',
  'A part of type file has a data: address in file.file_data.':
    '类型为 file 的部分在 file.file_data 中有 data: 地址。',
  'Videos are not supported: send images.': '不支持视频：请发送图像。',
  'The chat template leaves out images or audio: it wrote {} of {}.':
    '聊天模板略去了图像或音频：写了 {1} 中的 {0} 个。',
  '{~} is not in base64.': '{0} 不是 base64。',
  '{~} is given by a data: address; others are not fetched.': '{0} 由 data: 地址给出；其他地址不会被获取。',
  'This image cannot be decoded.': '无法解码此图像。',
  '{~} has the media type "{}": images, audio and texts are understood.':
    '{0} 的媒体类型为 "{1}"：只能识别图像、音频和文本。',
  '{~} is no text in UTF-8.': '{0} 不是 UTF-8 文本。',
  'An image is { width, height, data }, a Blob, bytes, { base64 } or a data: address.':
    '图像是 { width, height, data }、Blob、字节、{ base64 } 或 data: 地址。',
  'This PNG cannot be read: {~}.': '无法读取此 PNG：{0}。',
  'An image of {} x {} pixels cannot be taken: it must have from 1 to {}.':
    '无法接受 {0} x {1} 像素的图像：必须有 1 到 {2}。',
  "An image's pixels are bytes from 0 to 255, not {}.": '图像的像素是 0 到 255 的字节，不是 {0}。',
  'An image of {} x {} pixels has 3 or 4 bytes for each, not {} in all.':
    '{0} x {1} 像素的图像每像素 3 或 4 字节，总共不是 {2}。',
  'Only PNG and BMP images can be read here: install the package sharp, or decode others to { width, height, data } first.':
    '这里只能读取 PNG 和 BMP：请安装 sharp 包，或先将其他图像解码为 { width, height, data }。',
  'This image cannot be taken: it has more than {} pixels.': '无法接受此图像：超过 {0} 像素。',
  '{} needs its memory in bytes.': '{0} 需要以字节给出的内存。',
  'The file holds no model that runs by itself: there is no memory to estimate.':
    '文件不含可独立运行的模型：没有可估计的内存。',
  '{} is missing or 0': '{0} 缺失或为 0',
  '{} is missing or 0, so the number of layers is unknown': '{0} 缺失或为 0，层数未知',
  '{} is missing or 0, so the size of keys and values is unknown': '{0} 缺失或为 0，键和值的大小未知',
  'layer {} has no tensors': '第 {0} 层没有张量',
  'a model that speaks by itself drafts nothing': '自身会说话的模型不能起草',
  'the file for mmproj is of the kind {}': 'mmproj 的文件类型是 {0}',
  'the file for lora is of the kind {}': 'lora 的文件类型是 {0}',
  "none of its matrices gives rows of {}, the model's width: they give {~}":
    '它的矩阵都不产生宽度为 {0}（模型宽度）的行：它们产生 {1}',
  'Nothing is estimated, because no loader takes {~}: {~}.': '不作估计，因为没有加载器接受 {0}：{1}。',
  'What the architecture {} of {~} stores is not known.': '不知道 {1} 的架构 {0} 存储什么。',
  'The WebAssembly module {} could not be started: {~}. Say where it is by the option assets.':
    'WebAssembly 模块 {0} 无法启动：{1}。请用选项 assets 说明其位置。',
  'There is no memory for {} bytes.': '没有 {0} 字节的内存。',
  'This needs {}, which Node 20.16 or newer has.': '这需要 {0}，Node 20.16 或更新版本才有。',
  'The schema at {} {~}.': '{0} 处的模式：{1}。',
  'The schema nests too deep, or has too many properties in one object.':
    '模式嵌套过深，或一个对象的属性过多。',
  'An address is a string or a URL, not {}.': '地址是字符串或 URL，不是 {0}。',
  'Message {} has the role {~}. Roles are {~}, and what the chat template names.':
    '消息 {0} 的角色是 {1}。角色有 {2}，以及聊天模板所列的角色。',
  '"{~}" names no file. Give hf:owner/name/file.gguf, hf:owner/name@revision/file.gguf, or its page.':
    '"{0}" 没有指定文件。请给出 hf:owner/name/file.gguf、hf:owner/name@revision/file.gguf 或其页面。',
  'There is no range of {} at {}.': '{1} 处没有 {0} 的范围。',
  'The file has {~}: the {~} at {} are not all there. It may have been cut.':
    '文件有 {0}：{2} 处的 {1} 不全。文件可能被截断。',
  '{} cannot be read any more: it was changed, moved or deleted. Choose it again.':
    '{0} 无法再读取：文件已更改、移动或删除。请重新选择。',
  'It asks for a token.': '它要求提供令牌。',
  'The file may be gated, or the link expired: open its page, accept the terms, give a token.':
    '文件可能受限，或链接已过期：请打开其页面，接受条款，并提供令牌。',
  'Check the address.': '请检查地址。',
  'It is gone.': '它已不存在。',
  'Wait a while and try again.': '请稍候再试。',
  'Try again later.': '请稍后再试。',
  '{} answered {} for {}.': '{0} 对 {2} 回答 {1}。',
  'The connection to {} was lost at byte {}{~}.': '与 {0} 的连接在字节 {1} 处中断{2}。',
  'The connection to {} was lost at byte {}.': '与 {0} 的连接在字节 {1} 处中断。',
  '{} does not let other sites read this file (no CORS headers). Download it and open it from your disk, or ask for "Access-Control-Allow-Origin" on the server.':
    '{0} 不允许其他网站读取此文件（没有 CORS 标头）。请下载后从磁盘打开，或请求服务器设置 "Access-Control-Allow-Origin"。',
  '{} could not be reached. Check the address and the connection.': '无法连接 {0}。请检查地址和连接。',
  '{} could not be reached: {~}. Check the address and the connection.':
    '无法连接 {0}：{1}。请检查地址和连接。',
  'It asks to wait {} s.': '服务器要求等待 {0} 秒。',
  '{} on {} was replaced while it was read. Open it again.': '{1} 上的 {0} 在读取时被替换。请重新打开。',
  '{} ignores byte ranges: to reach byte {}, everything before would have to be downloaded. Download the file and open it from your disk.':
    '{0} 忽略字节范围：要到达字节 {1}，必须下载之前的全部内容。请下载文件并从磁盘打开。',
  '{} sent the range at byte {} compressed or in several parts, and neither can be read. Download the file and open it from your disk.':
    '{0} 以压缩形式或分成多个部分发送了字节 {1} 处的范围，两者都无法读取。请下载文件并从磁盘打开。',
  '{} was asked for byte {} and sent byte {}. Download the file and open it from your disk.':
    '向 {0} 请求字节 {1}，却收到字节 {2}。请下载文件并从磁盘打开。',
  '{} has only {} of {}: there is no byte {}.': '{0} 只有 {2} 的 {1}：没有字节 {3}。',
  '{} was closed.': '{0} 已关闭。',
  '{} is a folder. Name a file in it.': '{0} 是文件夹。请给出其中的文件。',
  '{} is no regular file.': '{0} 不是普通文件。',
  'What the preview showed of this file is not what its header says: it was made to mislead, or is damaged. Open it with preview: "full".':
    '此文件预览所示与其文件头不符：它意在误导或已损坏。请用 preview: "full" 打开。',
  'Nothing can be stored here: this needs a browser with a private file system, and a page on https:// or localhost.':
    '这里无法存储：需要有私有文件系统的浏览器，以及 https:// 或 localhost 上的页面。',
  '{} was removed from the store by another page or program. Load it again.':
    '{0} 已被另一页面或程序从存储中移除。请重新加载。',
  '{} cannot be stored: {~}. Set XDG_CACHE_HOME to another folder.':
    '{0} 无法存储：{1}。请把 XDG_CACHE_HOME 设为另一文件夹。',
  'There is no room for more of {}: remove stored models or free space on the disk.':
    '没有空间存放更多 {0}：请移除已存储的模型或腾出磁盘空间。',
  '{} was cut while it was read.': '{0} 在读取时被截断。',
  'The folder for kept files could not be made in {}: {~}. Set XDG_CACHE_HOME to another folder.':
    '无法在 {0} 中创建保留文件的文件夹：{1}。请把 XDG_CACHE_HOME 设为另一文件夹。',
  '{} gives no ranges of {}, or does not tell its size: it cannot be kept in parts. Load it without cache.':
    '{0} 不提供 {1} 的范围，或不说明其大小：不能分段保留。请不用缓存加载。',
  '{} takes {} more, and there is room for {}: remove stored models or free space on the disk.':
    '{0} 还需 {1}，而空间只有 {2}：请移除已存储的模型或腾出磁盘空间。',
  '{} was replaced while it was read. Load it again.': '{0} 在读取时被替换。请重新加载。',
  "The received bytes of {} do not match the server's hash. They were removed: load the file again.":
    '收到的 {0} 的字节与服务器的哈希不符。已将其移除：请重新加载文件。',
  '{} was replaced while it was read. What was stored was removed: load the file again.':
    '{0} 在读取时被替换。已存储的内容已移除：请重新加载文件。',
  'There is no room for the file.': '没有空间存放该文件。',
  "quantize() takes a type's name and a Float32Array, not {} and an array.":
    'quantize() 接受类型名和 Float32Array，不是 {0} 和数组。',
  "quantize() takes a type's name and a Float32Array, not {} and {}.":
    'quantize() 接受类型名和 Float32Array，不是 {0} 和 {1}。',
  'There is no quantizer of type {}.': '没有类型 {0} 的量化器。',
  'Type {} cannot be quantized without importance.': '没有重要性数据，类型 {0} 不能量化。',
  '{} floats in rows of {} are no whole blocks of {}, which {} needs.':
    '{0} 个浮点数、每行 {1} 个，不是 {3} 所需的 {2} 的整数个块。',
  'options.against.file is no file of this package.': 'options.against.file 不是此包的文件。',
  'Tensors {} and {} differ in shape: there is no error between them.':
    '张量 {0} 和 {1} 形状不同：它们之间没有误差可言。',
  'There is no memory for {} floats: dequantize fewer rows at a time.':
    '没有 {0} 个浮点数的内存：请一次少反量化几行。',
  'Rows of tensor {} have {~}: columns must be [from, to], not {~}.':
    '张量 {0} 的行有 {1}：columns 必须是 [from, to]，不是 {2}。',
  'Tensor {} has blocks of {~}: columns {} to {} are no whole blocks.':
    '张量 {0} 的块为 {1}：第 {2} 到 {3} 列不是整数个块。',
  '{~}: the format {} is used.': '{0}：使用格式 {1}。',
  'A text must be a string, bytes, a Blob, a stream or an iterable of strings or bytes.':
    '文本必须是字符串、字节、Blob、流，或字符串或字节的可迭代对象。',
  'The pieces of a text must be strings or UTF-8 bytes.': '文本的各片段必须是字符串或 UTF-8 字节。',
  'tokenizer.huggingface.json is no JSON.': 'tokenizer.huggingface.json 不是 JSON。',
  'tokenizer.huggingface.json has no model.vocab.': 'tokenizer.huggingface.json 没有 model.vocab。',
  'The known formats are not loaded: await file.loadTokenizer() first.':
    '已知格式尚未加载：请先 await file.loadTokenizer()。',
  'The file has no chat template "{}", and its vocabulary suggests none: the option template may name a known format, such as "chatml".':
    '文件没有聊天模板 "{0}"，其词表也未提示任何模板：选项 template 可指定已知格式，例如 "chatml"。',
  'The file has no chat template "{}", but {~}, and there is no known format of that name.':
    '文件没有聊天模板 "{0}"，但有 {1}，也没有该名称的已知格式。',
  "To continue, the last message must be an assistant's, with text as its content and without calls.":
    '要续写，最后一条消息必须是助手的，以文本为内容且不含调用。',
  'The chat template does not show the last message, which is to be continued.':
    '聊天模板没有显示要续写的最后一条消息。',
  'No memory for {} bytes of a conversation.': '没有对话所需 {0} 字节的内存。',
  'Tokens are a list of their ids, not {}.': '词元是其编号的列表，不是 {0}。',
  'No memory for {} of the vocabulary.': '没有词表 {0} 的内存。',
  'A text of {} is too long: 1 GiB is the most.': '{0} 的文本太长：最多 1 GiB。',
  'A text must be a string or UTF-8 bytes.': '文本必须是字符串或 UTF-8 字节。',
  'the file': '该文件',
  'the draft model with this model': '用于此模型的草稿模型',
  'it as a projector': '它作为投影器',
  'it as an adapter': '它作为适配器',
  'the projector with this model': '用于此模型的投影器',
  'the adapter': '该适配器',
  'the adapter with this model': '用于此模型的适配器',
  'the draft model': '草稿模型',
  'questions.{~}: {~}': 'questions.{0}：{1}',
  'no single-token label left for {} options': '没有剩余的单词元标签可用于 {0} 个选项',
  'the options do not fit in the context': '选项放不进上下文',
  'the instructions and the options of a question must not be empty': '问题的说明和选项不能为空',
  '"criteria" must be a non-empty object': '“criteria”必须是非空对象',
  'option keys must be non-empty, descriptions must be null, text, an object or an array':
    '选项的键不能为空，描述必须是 null、文本、对象或数组',
  '"criteria" must have at least 2 options': '“criteria”必须至少有 2 个选项',
  '"criteria" must be an array of 2 to 10 levels': '“criteria”必须是 2 到 10 个等级的数组',
  'level descriptions must be text, an object or an array': '等级的描述必须是文本、对象或数组',
  '"criteria" must be an object': '“criteria”必须是对象',
  '"criteria" may only describe "false" and "true" with text, an object or an array':
    '“criteria”只能用文本、对象或数组描述“false”和“true”',
  'must be an object': '必须是对象',
  '"instructions" must be provided': '必须给出“instructions”',
  '"instructions" must be non-empty text, an object or an array': '“instructions”必须是非空文本、对象或数组',
  '"type" must be one of: choice, score, noul': '“type”必须是以下之一：choice、score、noul',
  'too many options ({}), this model supports at most {}': '选项过多（{0}）：此模型最多支持 {1} 个',
  '"state" must be provided': '必须给出“state”',
  '"state" must be text, an object or an array': '“state”必须是文本、对象或数组',
  '"questions" must be a non-empty object': '“questions”必须是非空对象',
  '"{~}" is no address.': '“{0}”不是地址。',
  'open() of "ggufscope" cannot read {}.': '"ggufscope" 的 open() 不能读取 {0}。',
  'For paths, import open from "ggufscope/node".': '要使用路径，请从 "ggufscope/node" 导入 open。',
  'A page cannot read {}.': '网页无法读取 {0}。',
}
