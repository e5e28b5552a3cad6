// What the package says, in Chinese: the rules of lint. The English text is the key; see zh.ts.
export default {
  // What rules mean
  'The file begins with FUGG, as drafts of August 2023 wrote the magic. ggml refuses it.':
    '文件以 FUGG 开头，这是 2023 年 8 月草案的标识写法。ggml 会拒绝它。',
  'The file has version 1 of the format. ggml no longer reads it.': '文件是格式的第 1 版。ggml 已不再读取。',
  'The file is big-endian. ggml reads it on big-endian machines only.':
    '文件为大端序。ggml 只在大端机器上读取。',
  'The file is big-endian and older than version 3. The format supports big-endian files only from version 3 on.':
    '文件为大端序，且版本低于 3。格式从第 3 版起才支持大端文件。',
  'A key has no name. ggml refuses the file.': '有一个键没有名称。ggml 会拒绝该文件。',
  'A key occurs twice. ggml refuses the file.': '有一个键出现了两次。ggml 会拒绝该文件。',
  'A key is longer than 65,535 bytes. The specification does not allow it.':
    '有一个键超过 65,535 字节。规范不允许。',
  'A key has characters beyond ASCII. The specification does not allow it.':
    '有一个键含有 ASCII 以外的字符。规范不允许。',
  'A key does not consist of words of a-z, 0-9 and _, separated by dots. The specification requires this form.':
    '有一个键不是由点分隔的 a-z、0-9 和 _ 组成的词。规范要求这种形式。',
  'A value is an array of arrays. The format allows this, but ggml refuses the file.':
    '有一个值是数组的数组。格式允许，但 ggml 会拒绝该文件。',
  'A bool is neither 0 nor 1.': '有一个布尔值既不是 0 也不是 1。',
  'A string is not UTF-8. The specification asks for UTF-8; some readers stop here.':
    '有一个字符串不是 UTF-8。规范要求 UTF-8；有些读取程序会在此停止。',
  'A string contains a NUL character. Readers in C see only the text before it.':
    '有一个字符串含有 NUL 字符。C 语言的读取程序只能看到它之前的文本。',
  'A standard key has a type that differs from the specification. Readers may ignore or refuse it.':
    '有一个标准键的类型与规范不同。读取程序可能忽略或拒绝它。',
  'The key has a newer name.': '该键已有新名称。',
  '`general.type` is not model, adapter, imatrix or mmproj.':
    '`general.type` 不是 model、adapter、imatrix 或 mmproj。',
  'The keys of base models or data sets do not match their count.': '基础模型或数据集的键与其数量不符。',
  'A UUID is not of the form 8-4-4-4-12 hexadecimal digits.':
    '有一个 UUID 不是 8-4-4-4-12 位十六进制数字的形式。',
  'A recommended sampling value is out of range.': '有一个推荐的采样值超出范围。',
  "The file's name does not follow the naming convention of the specification. Nothing refuses it, and most good files have such a name, so the rule runs only on request: `--strict`, or `strict: true`.":
    '文件名不符合规范的命名约定。没有程序因此拒绝它，多数正常文件也是如此，所以该规则仅在要求时运行：`--strict` 或 `strict: true`。',
  'The name states a different quantization than `general.file_type`.':
    '文件名所述的量化与 `general.file_type` 不同。',
  'The keys that describe a shard are missing or contradict each other. llama.cpp refuses the set.':
    '描述分片的键缺失或互相矛盾。llama.cpp 会拒绝这一组文件。',
  'The name and the keys name different shards. llama.cpp finds the other shards by name, and refuses the set.':
    '文件名与键指的是不同分片。llama.cpp 按名称查找其余分片，因而会拒绝这一组文件。',
  'A key of an adapter or an importance matrix has a type that its reader refuses.':
    '适配器或重要性矩阵的一个键的类型会被其读取程序拒绝。',
  'An adapter must have `general.type` adapter and `adapter.type` lora. Otherwise llama.cpp refuses it.':
    '适配器的 `general.type` 必须为 adapter，`adapter.type` 必须为 lora，否则 llama.cpp 会拒绝它。',
  'The adapter has no scale. llama.cpp uses the product of its matrices without a scale.':
    '适配器没有缩放。llama.cpp 使用其矩阵的乘积而不缩放。',
  'A matrix of an adapter has no counterpart. llama.cpp refuses the adapter.':
    '适配器的一个矩阵没有配对。llama.cpp 会拒绝该适配器。',
  'The adapter has a tensor that is not part of a pair. llama.cpp refuses it.':
    '适配器有一个不属于任何一对的张量。llama.cpp 会拒绝它。',
  'The two matrices of a pair have different ranks. llama.cpp refuses the adapter.':
    '一对矩阵的秩不同。llama.cpp 会拒绝该适配器。',
  'An importance matrix has no such key, or one half of a pair of tensors is missing. llama-quantize refuses it.':
    '重要性矩阵缺少这样的键，或缺少一对张量中的一半。llama-quantize 会拒绝它。',
  'A tensor of an importance matrix is not F32. llama-quantize reads only F32.':
    '重要性矩阵的一个张量不是 F32。llama-quantize 只读取 F32。',
  'The tensors are not directions in F32, one for each layer from 1 on, all of the same length. llama.cpp refuses the file.':
    '这些张量不是从第 1 层起每层一个、长度相同的 F32 方向。llama.cpp 会拒绝该文件。',
  'The file does not say for which architecture the control vector was made.':
    '文件没有说明控制向量是为哪种架构制作的。',
  'ComfyUI-GGUF stores some tensors as rows of 256 elements and keeps their shape in a key. Such a key does not match any tensor. ComfyUI-GGUF fails to load the file.':
    'ComfyUI-GGUF 把一些张量存为 256 个元素的行，并把形状存在键中。有一个这样的键与任何张量都不符。ComfyUI-GGUF 无法加载该文件。',
  '`general.alignment` is not u32, for example a bool. ggml refuses the file.':
    '`general.alignment` 不是 u32，例如是布尔值。ggml 会拒绝该文件。',
  'The alignment is not a power of two. ggml refuses the file.': '对齐不是 2 的幂。ggml 会拒绝该文件。',
  'The alignment is not a multiple of 8, as the specification requires.':
    '对齐不是 8 的倍数，而规范要求如此。',
  'The alignment is above 65,536: much of the file is padding.': '对齐大于 65,536：文件中有大量填充。',
  'Two tensors have the same name. ggml refuses the file.': '有两个张量同名。ggml 会拒绝该文件。',
  "A tensor's name is longer than 63 bytes. ggml refuses the file.":
    '有一个张量的名称超过 63 字节。ggml 会拒绝该文件。',
  "A tensor has a longer name or more dimensions than ggml's own reader accepts. The file is for another program, which may accept it.":
    '有一个张量的名称或维数超出 ggml 自己的读取程序。文件用于其他程序，那个程序可能接受它。',
  'A tensor has no name.': '有一个张量没有名称。',
  "A tensor's name is not UTF-8.": '有一个张量的名称不是 UTF-8。',
  "A tensor's name contains a NUL character. ggml sees only the text before it.":
    '有一个张量的名称含有 NUL 字符。ggml 只能看到它之前的文本。',
  'A tensor has more than four dimensions. ggml refuses the file.': '有一个张量超过四维。ggml 会拒绝该文件。',
  'A tensor has no dimensions: it is one number.': '有一个张量没有维度：它是一个数。',
  'A tensor has a dimension of 0.': '有一个张量的某一维为 0。',
  'A dimension is 2^63 or more. ggml refuses the file.': '有一维大于等于 2^63。ggml 会拒绝该文件。',
  'A tensor has more elements than ggml can count. ggml refuses the file.':
    '有一个张量的元素数超过 ggml 能计的数。ggml 会拒绝该文件。',
  "A tensor's type is not one of ggml's. ggml and llama.cpp refuse the file. If the type belongs to a fork, the message names the fork.":
    '有一个张量的类型不属于 ggml。ggml 和 llama.cpp 会拒绝该文件。如果该类型属于某个分支，消息会指出。',
  'llama.cpp loads the tensor, but ends the program when it computes with it on a CPU: it takes norms, biases and other tensors that are no matrices as F32 only, and no matrices of integers, F64, Q8_1 or Q8_K.':
    'llama.cpp 会加载该张量，但在 CPU 上用它计算时会终止程序：归一化权重、偏置和其他非矩阵张量只能是 F32，矩阵不能是整数、F64、Q8_1 或 Q8_K。',
  "A tensor's type was removed from ggml. Today's llama.cpp refuses the file.":
    '有一个张量的类型已从 ggml 移除。如今的 llama.cpp 会拒绝该文件。',
  'A row does not consist of whole blocks of its type. ggml refuses the file.':
    '有一行不是由其类型的整块组成。ggml 会拒绝该文件。',
  "The K types have blocks of 64 elements, as special builds wrote until May 2024. Today's llama.cpp does not read them.":
    'K 类型的块为 64 个元素，是 2024 年 5 月以前特殊构建的写法。如今的 llama.cpp 不读取它们。',
  'A tensor does not begin at a multiple of the alignment. ggml refuses the file.':
    '有一个张量的起点不是对齐的倍数。ggml 会拒绝该文件。',
  'The tensor data does not begin at a multiple of 32. llama.cpp maps files into memory, and aborts with a failed assertion. It reads the file with --load-mode none.':
    '张量数据的起点不是 32 的倍数。llama.cpp 会把文件映射到内存，并因断言失败而中止。使用 --load-mode none 可以读取。',
  'The data of tensors is not in the order in which they are listed. ggml refuses the file.':
    '张量数据的顺序与列表不一致。ggml 会拒绝该文件。',
  'Two tensors share bytes. ggml refuses the file.': '有两个张量共用字节。ggml 会拒绝该文件。',
  'There are unused bytes between tensors. ggml refuses the file.':
    '张量之间有未使用的字节。ggml 会拒绝该文件。',
  'The sizes of all tensors add up to 2^63 bytes or more. ggml refuses the file.':
    '所有张量的大小合计达到或超过 2^63 字节。ggml 会拒绝该文件。',
  'The file ends before its tensor data ends. llama.cpp refuses it.':
    '文件在张量数据结束之前就结束了。llama.cpp 会拒绝它。',
  'Bytes follow the tensor data. Readers ignore them.': '张量数据之后还有字节。读取程序会忽略它们。',
  'The padding before the tensor data is not zero, which the specification requires.':
    '张量数据之前的填充不为零，而规范要求为零。',
  'The file is a language model without `general.architecture`. llama.cpp refuses it.':
    '文件是没有 `general.architecture` 的语言模型。llama.cpp 会拒绝它。',
  "The architecture's name has characters other than a-z and 0-9, which the specification does not allow.":
    '架构名称含有 a-z 和 0-9 以外的字符，规范不允许。',
  "The file is for another program than llama.cpp, which the message names. The rules of llama.cpp's loader do not apply to it. stable-diffusion.cpp writes files without `general.architecture`.":
    '文件用于 llama.cpp 以外的程序，消息会指出是哪个。llama.cpp 加载器的规则不适用于它。stable-diffusion.cpp 写出的文件没有 `general.architecture`。',
  'llama.cpp does not have this architecture, and refuses the file. The rules of its loader are not checked.':
    'llama.cpp 没有这种架构，会拒绝该文件。不检查其加载器的规则。',
  'A SentencePiece vocabulary has no tokens for some bytes. Characters without a token of their own are cut into bytes; llama.cpp aborts where one has no token.':
    'SentencePiece 词表缺少某些字节的词元。没有自己词元的字符会拆成字节；字节没有词元时 llama.cpp 会中止。',
  'The file has keys of one architecture and names another, of which it has none. llama.cpp refuses it.':
    '文件有一种架构的键，却写了另一种架构的名称，而没有其键。llama.cpp 会拒绝它。',
  'The specification requires the key for this architecture.': '规范要求这种架构具有该键。',
  'A list with one value for each block has the wrong length. llama.cpp refuses the file.':
    '每块一个值的列表长度有误。llama.cpp 会拒绝该文件。',
  '`block_count` is 0 or above 512. llama.cpp refuses the file.':
    '`block_count` 为 0 或大于 512。llama.cpp 会拒绝该文件。',
  'The file has more than 512 experts, or uses none or more than it has. llama.cpp refuses it.':
    '文件的专家超过 512 个，或使用的专家为零或多于其所有。llama.cpp 会拒绝它。',
  'The context length is 0. llama.cpp computes nevertheless, as this engine does, with a context that the program chooses.':
    '上下文长度为 0。llama.cpp 和本引擎仍会计算，上下文由程序选择。',
  'Set the key to the length for which the model was trained, with `ggufscope set`.':
    '用 `ggufscope set` 把该键设为模型训练时的长度。',
  'The width is not divisible by the number of heads, or the heads are not divisible by the key-value heads.':
    '宽度不能被头数整除，或头数不能被键值头数整除。',
  'This architecture rotates whole heads, but the file states another number of dimensions. llama.cpp refuses it.':
    '这种架构旋转整个头，但文件写了另一维数。llama.cpp 会拒绝它。',
  'llama.cpp does not support this kind of RoPE scaling.': 'llama.cpp 不支持这种 RoPE 缩放。',
  'The file states that its tensors do not have the usual layout. llama.cpp does not read this key.':
    '文件说明其张量不是通常的布局。llama.cpp 不读取该键。',
  'A size of the audio input is 0. whisper.cpp cannot read it.':
    '音频输入的一个大小为 0。whisper.cpp 无法读取。',
  'Tensors are quantized, but the file does not state the quantization version.':
    '张量已量化，但文件没有写明量化版本。',
  'The version of the quantization is not 2, so its blocks may have a different layout.':
    '量化版本不是 2，因此块的布局可能不同。',
  "`general.file_type` is not in llama.cpp's list, or belongs to a removed type. rwkv.cpp and forks have their own lists.":
    '`general.file_type` 不在 llama.cpp 的列表中，或属于已移除的类型。rwkv.cpp 和各分支有自己的列表。',
  'No tensor has the type that `general.file_type` names.': '没有张量具有 `general.file_type` 所写的类型。',
  'A multimodal projector has neither an image nor an audio encoder. llama.cpp refuses it.':
    '多模态投影器既没有图像编码器，也没有音频编码器。llama.cpp 会拒绝它。',
  'A key of a projector is missing. llama.cpp refuses it.': '投影器缺少一个键。llama.cpp 会拒绝它。',
  'This version does not support this kind of projector.': '此版本不支持这种投影器。',
  'A key of a projector has another type than llama.cpp reads.':
    '投影器的一个键的类型与 llama.cpp 读取的不同。',
  "A value of a projector is out of llama.cpp's range.": '投影器的一个值超出 llama.cpp 的范围。',
  'A tensor of a projector is missing. llama.cpp refuses it.': '投影器缺少一个张量。llama.cpp 会拒绝它。',
  'llama.cpp reads this key of the architecture and refuses the model without it.':
    'llama.cpp 读取这种架构的该键，缺少时会拒绝模型。',
  'llama.cpp accepts only one type for this key, and refuses the model.':
    'llama.cpp 对该键只接受一种类型，会拒绝该模型。',
  'A language model has no `token_embd.weight`. llama.cpp refuses it.':
    '语言模型没有 `token_embd.weight`。llama.cpp 会拒绝它。',
  'Tensors belong to blocks beyond `block_count`. llama.cpp refuses the model.':
    '有张量属于超出 `block_count` 的块。llama.cpp 会拒绝该模型。',
  'Blocks have no tensors at all. llama.cpp refuses the model.':
    '有些块没有任何张量。llama.cpp 会拒绝该模型。',
  'The chat template loops over something that may be very long.': '聊天模板循环的对象可能很长。',
  'The chat template behaves differently if a message contains certain words.':
    '消息含有某些词时，聊天模板的行为会不同。',
  'The chat template adds its own instructions to the prompt.': '聊天模板会在提示中加入自己的指令。',
  "The chat template accesses Python's internals. In a program without a sandbox it can run code.":
    '聊天模板访问 Python 的内部。在没有沙箱的程序中，它可以执行代码。',
  'The chat template contains invisible characters.': '聊天模板含有不可见字符。',
  'Braces or blocks of the chat template do not match.': '聊天模板的括号或块不配对。',
  '`tokenizer.chat_templates` and the keys of the named templates do not agree.':
    '`tokenizer.chat_templates` 与各命名模板的键不一致。',
  'The chat template is nested very deeply.': '聊天模板嵌套得很深。',
  'The chat template compares the date, so it behaves differently from a certain day on.':
    '聊天模板会比较日期，因此从某一天起行为会不同。',
  'The chat template has a run of 200 blanks or a word of 200 letters: hidden or unreadable text.':
    '聊天模板含有连续 200 个空格或 200 个字母的词：隐藏或无法阅读的文本。',
  'The chat template contains a link.': '聊天模板含有链接。',
  'llama.cpp creates this tensor for the architecture and refuses the model without it.':
    'llama.cpp 会为这种架构创建该张量，缺少时会拒绝模型。',
  'llama.cpp has no such tensor for the architecture and refuses the model.':
    'llama.cpp 对这种架构没有这样的张量，会拒绝该模型。',
  'Tensors have other shapes than those that llama.cpp computes from the keys. It refuses the model. Tensors that differ alike are one finding, and so are those that depend on one missing key. A count that is missing counts as 0.':
    '张量的形状与 llama.cpp 由键算出的不同。它会拒绝该模型。差异相同的张量合为一条，依赖同一个缺失键的也是如此。缺失的数量按 0 计。',
  '`tokenizer.ggml.model` is missing. llama.cpp requires it, even if the value is none.':
    '缺少 `tokenizer.ggml.model`。即使值为 none，llama.cpp 也要求它。',
  'llama.cpp does not support the kind of tokenizer and refuses the model.':
    'llama.cpp 不支持这种分词器，会拒绝该模型。',
  'llama.cpp does not know the pre-tokenizer and refuses the model.':
    'llama.cpp 不认识该预分词器，会拒绝该模型。',
  'The file does not name a pre-tokenizer. llama.cpp splits text by its default, which may be wrong for the model.':
    '文件没有写明预分词器。llama.cpp 按默认方式切分文本，可能不适合该模型。',
  'The tokenizer has no tokens. llama.cpp refuses the model.': '分词器没有 token。llama.cpp 会拒绝该模型。',
  'The tokenizer needs merges and has none. llama.cpp refuses the model.':
    '分词器需要合并规则，但没有。llama.cpp 会拒绝该模型。',
  'A list of the tokenizer has a type that llama.cpp does not read.':
    '分词器的一个列表的类型是 llama.cpp 不读取的。',
  'A list of the tokenizer is shorter than the tokens. llama.cpp would read beyond its end.':
    '分词器的一个列表比 token 短。llama.cpp 会读到其末尾之外。',
  'A list of the tokenizer is longer than the tokens.': '分词器的一个列表比 token 长。',
  'Two tokens have the same text. llama.cpp refuses the model.':
    '有两个 token 的文本相同。llama.cpp 会拒绝该模型。',
  "A token's text is empty. Loaders generate a name for it.":
    '有一个 token 的文本为空。加载程序会为它生成名称。',
  "A token's type is not from 1 to 6.": '有一个 token 的类型不在 1 到 6 之间。',
  "A byte token's text is not of the form <0xHH>.": '有一个字节 token 的文本不是 <0xHH> 的形式。',
  "A token's score is not finite.": '有一个 token 的分数不是有限数。',
  'A merge does not consist of two pieces separated by a space.': '有一条合并规则不是由空格分隔的两段组成。',
  "A special token's number is not less than the number of tokens. llama.cpp ignores it.":
    '有一个特殊 token 的编号不小于 token 数。llama.cpp 会忽略它。',
  "A special token's number is not u32. llama.cpp refuses the model.":
    '有一个特殊 token 的编号不是 u32。llama.cpp 会拒绝该模型。',
  'The file requests a special token, but does not name it.': '文件要求一个特殊 token，但没有指明是哪个。',
  '`general.name` contains Phi-3, and llama.cpp changes four tokens of such models. One of them is missing, so llama.cpp refuses the model.':
    '`general.name` 含有 Phi-3，llama.cpp 会更改此类模型的四个 token。其中一个缺失，因此 llama.cpp 会拒绝该模型。',
  "llama.cpp reads the separator's number under `seperator_token_id`, not with the specification's spelling.":
    'llama.cpp 以 `seperator_token_id` 读取分隔符的编号，而不是规范的拼写。',
  '`tokenizer.huggingface.json` is not a JSON object.': '`tokenizer.huggingface.json` 不是 JSON 对象。',
  'The character table of a T5 tokenizer is shorter than its header states. llama.cpp refuses the model.':
    'T5 分词器的字符表比其头部所写的短。llama.cpp 会拒绝该模型。',
  'A file of a split model is not there.': '拆分模型缺少一个文件。',
  'A file of a split model has another place in the set by its keys than by its name. Loaders refuse the set.':
    '拆分模型的一个文件，按键所在的位置与按名称的不同。加载程序会拒绝这一组文件。',
  'The keys of a file say that its set has another number of files than its name does. Loaders read it from the first file.':
    '一个文件的键所写的文件数与其名称不同。加载程序从第一个文件读取该数。',
  'The files of a split model hold another number of tensors together than their keys say. Loaders refuse the set.':
    '拆分模型各文件的张量总数与其键所写的不同。加载程序会拒绝这一组文件。',
  'A chat template does not compile, or fails with a short conversation. Programs that render it cannot chat.':
    '有一个聊天模板无法编译，或在简短的对话上失败。使用它的程序无法对话。',
  'A chat template leaves messages of a conversation out of the prompt, so the model does not see them.':
    '有一个聊天模板漏掉了对话中的消息，因此模型看不到它们。',
  'A chat template is empty, or only a name. A known format is used instead, as llama.cpp does.':
    '有一个聊天模板为空，或只是一个名称。与 llama.cpp 一样，会改用已知的格式。',
  'The data of a tensor hold a float or a scale that is NaN or infinite. llama.cpp refuses it with `--check-tensors`.':
    '有一个张量的数据含有 NaN 或无穷大的数或缩放值。使用 `--check-tensors` 时 llama.cpp 会拒绝它。',
  'A key differs by a letter or two from a standardized one. Readers do not look at it.':
    '有一个键与标准键只差一两个字母。读取程序不会看它。',
  "The engine of this package refuses the file at `load()`, before it reads weights (a hyper-parameter, a key of a projector, an adapter's scale or types, or the shape of a tensor), or, as a note, cannot run it although it may be right.":
    '本软件包的引擎在 `load()` 读取权重之前就拒绝该文件（原因是超参数、投影器的键、适配器的缩放或类型，或张量的形状），或者作为提示：不能运行它，但文件可能没有错。',
  '`audit()`: no standard conversation shows a text of the chat template. It may belong to a rare case, or be hidden.':
    '`audit()`：没有任何标准对话会显示聊天模板中的某段文本。它可能属于罕见情况，或是隐藏的。',
  '`audit()`: the chat template adds sentences of its own to every conversation, such as a default system message.':
    '`audit()`：聊天模板会在每个对话中加入自己的句子，例如默认的系统消息。',
  '`audit()`: a name or a description has characters that nobody sees.':
    '`audit()`：名称或描述含有看不见的字符。',
  '`audit()`: the file does not say its license, who made it, or what it was made from.':
    '`audit()`：文件没有说明许可证、制作者或来源。',
  '`audit()` with hashes: a file stores the same tensor data more than once.':
    '带哈希的 `audit()`：文件多次存储相同的张量数据。',
  // What cures a fault
  'Convert the model again, or rewrite the file with `ggufscope convert`.':
    '请重新转换模型，或用 `ggufscope convert` 重写文件。',
  'Rewrite the file with `ggufscope convert`.': '请用 `ggufscope convert` 重写文件。',
  'On such a machine, nothing needs to be done. Otherwise convert the byte order with `ggufscope convert`.':
    '在此类机器上无需处理；否则请用 `ggufscope convert` 转换字节序。',
  'Remove the key with `ggufscope set`.': '请用 `ggufscope set` 删除该键。',
  'Remove one of the two with `ggufscope set`.': '请用 `ggufscope set` 删除其中一个。',
  'Rename the key.': '请重命名该键。',
  'Rename the key, if you defined it. Readers accept it.': '如果该键由您定义，请重命名。读取程序会接受它。',
  'Store one flat array, and the lengths in another key.': '请存储为一个扁平数组，并把长度放在另一个键中。',
  'Set the key again with `ggufscope set`.': '请用 `ggufscope set` 重新设置该键。',
  'Set the key again, in UTF-8.': '请以 UTF-8 重新设置该键。',
  'Set the key again without it.': '请去掉它后重新设置该键。',
  'Set the key again: `ggufscope set` uses the standard type.':
    '请重新设置该键：`ggufscope set` 使用标准类型。',
  'Write the key under its new name.': '请用新名称写入该键。',
  'Set it to one of these, or remove it.': '请设为其中之一，或将其删除。',
  'Correct the count, or add the keys that it counts.': '请更正数量，或补上所计的键。',
  'Set it again, or remove it.': '请重新设置，或将其删除。',
  'Rename the file if you publish it.': '如要发布，请重命名文件。',
  'Rename the file, or set the key.': '请重命名文件，或设置该键。',
  'Split the whole model again with `ggufscope split`.': '请用 `ggufscope split` 重新拆分整个模型。',
  'Give the file the name that matches its keys.': '请给文件取与其键相符的名称。',
  'Set the key again in the type that the message names.': '请按消息所说的类型重新设置该键。',
  'Set the two keys.': '请设置这两个键。',
  'Nothing needs to be done if that is intended. Otherwise set `adapter.lora.alpha`.':
    '如果是有意为之，则无需处理；否则请设置 `adapter.lora.alpha`。',
  'Convert the adapter again.': '请重新转换适配器。',
  'Convert the adapter again, without that tensor.': '请去掉该张量后重新转换适配器。',
  'Make it again with llama-imatrix.': '请用 llama-imatrix 重新生成。',
  'Make the control vector again.': '请重新生成控制向量。',
  'Set `controlvector.model_hint`.': '请设置 `controlvector.model_hint`。',
  'Convert the model again.': '请重新转换模型。',
  'Set it as u32, or remove it: 32 is the default.': '请设为 u32，或删除：默认值为 32。',
  'Rewrite the file with an alignment of 32.': '请以 32 的对齐重写文件。',
  'Rename the tensor. All names that llama.cpp uses are shorter.':
    '请重命名张量。llama.cpp 使用的名称都更短。',
  'ggufscope opens such files. For llama.cpp, convert the model with shorter names and at most 4 dimensions.':
    'ggufscope 可以打开这类文件。要用于 llama.cpp，请用更短的名称和至多 4 个维度转换模型。',
  'Join dimensions, and keep the shape in a key.': '请合并维度，并把形状存入一个键。',
  'Nothing: ggml reads it.': '无需处理：ggml 能读取。',
  'Convert the model again, if the tensor should have data.': '如果该张量应有数据，请重新转换模型。',
  'The file is damaged: fetch or convert it again.': '文件已损坏：请重新获取或转换。',
  'Use the fork that has the type, or quantize the original model to a type of ggml.':
    '请使用具有该类型的分支，或把原始模型量化为 ggml 的类型。',
  'Convert the original model again, or convert the tensor to F32.':
    '请重新转换原始模型，或把该张量转换为 F32。',
  'Quantize the original model again.': '请重新量化原始模型。',
  'Quantize the tensor to a type with smaller blocks.': '请把该张量量化为块更小的类型。',
  'Fetch the file again: a download ended early, or the file is damaged.':
    '请重新获取文件：下载提前结束了，或文件已损坏。',
  'Nothing needs to be done. You can rewrite the file without them.': '无需处理。也可以去掉它们后重写文件。',
  'Nothing needs to be done: readers skip it.': '无需处理：读取程序会跳过它。',
  "Set the key to the model's architecture.": '请把该键设为模型的架构。',
  'Nothing: llama.cpp itself uses such names.': '无需处理：llama.cpp 自己也用这样的名称。',
  'Keep the file as it is, if it is for such a program.': '如果文件用于这样的程序，请保持原样。',
  'Correct `general.architecture` if it is mistyped. A newer llama.cpp may have the architecture.':
    '如果 `general.architecture` 拼写有误，请改正。更新的 llama.cpp 可能有该架构。',
  'Convert the model again, with the byte tokens `<0x00>` to `<0xFF>`.':
    '重新转换模型，并带上字节词元 `<0x00>` 到 `<0xFF>`。',
  'Set `general.architecture` to the name that its keys begin with.':
    '请把 `general.architecture` 设为其键开头的名称。',
  'Add the key, or convert the model again. llama.cpp may have a default.':
    '请添加该键，或重新转换模型。llama.cpp 可能有默认值。',
  'Correct the list or `block_count`.': '请更正该列表或 `block_count`。',
  'Set it to the number of blocks.': '请设为块的数量。',
  'Correct `expert_count` and `expert_used_count`.': '请更正 `expert_count` 和 `expert_used_count`。',
  'Check the head counts against the original configuration.': '请对照原始配置检查头数。',
  'Set `rope.dimension_count` to the width of a head.': '请把 `rope.dimension_count` 设为一个头的宽度。',
  'Set it to none, linear, yarn or longrope.': '请设为 none、linear、yarn 或 longrope。',
  'Check which program wrote the file.': '请检查文件由哪个程序写成。',
  'Set `general.quantization_version` to 2.': '请把 `general.quantization_version` 设为 2。',
  'Nothing needs to be done. You can set the right number.': '无需处理。也可以设为正确的数字。',
  'Set the right number. It is used only for display.': '请设为正确的数字。它只用于显示。',
  'Convert the projector again.': '请重新转换投影器。',
  'Nothing: a newer llama.cpp may read it.': '无需处理：更新的 llama.cpp 可能能读取。',
  'Add the key with the value of the original configuration, or convert the model again.':
    '请按原始配置的值添加该键，或重新转换模型。',
  'Correct `block_count`, or remove the tensors.': '请更正 `block_count`，或删除这些张量。',
  'Convert the model again; if it is a shard, open all shards.':
    '请重新转换模型；如果是分片，请打开所有分片。',
  'Read the template before you use it.': '使用前请先阅读模板。',
  'Read what it adds; replace the template if you do not want it.':
    '请阅读它添加的内容；如果不需要，请替换模板。',
  'Do not use the template.': '请勿使用该模板。',
  'Read the template with these characters shown; replace it.':
    '请在显示这些字符的情况下阅读模板，并替换它。',
  'Use the template of the original model.': '请使用原始模型的模板。',
  'Correct the list, or add the templates that it names.': '请更正该列表，或添加它所列的模板。',
  'Do not use the template until you know why.': '在弄清原因之前，请勿使用该模板。',
  'Remove the tensor, or convert the model with the right converter.':
    '请删除该张量，或用正确的转换程序转换模型。',
  'Correct the key, or convert the model again.': '请更正该键，或重新转换模型。',
  "Set it to the tokenizer's kind, or to none.": '请设为分词器的种类，或设为 none。',
  'Set it to a kind that llama.cpp has.': '请设为 llama.cpp 具有的种类。',
  'Set it to the name that llama.cpp has for this model family.': '请设为 llama.cpp 对该模型系列所用的名称。',
  'Set `tokenizer.ggml.pre`.': '请设置 `tokenizer.ggml.pre`。',
  'Convert the model again. Readers ignore the rest.': '请重新转换模型。读取程序会忽略其余部分。',
  'Convert the model again with unique names for unused tokens.':
    '请为未使用的 token 取不同的名称，并重新转换模型。',
  "The file is in one of ggml's formats from before GGUF. Today's loaders refuse it.":
    '文件使用 GGUF 之前的一种 ggml 格式。如今的加载器会拒绝它。',
  "Write it as GGUF with `ggufscope convert`, or with the viewer's panel Convert.":
    '请用 `ggufscope convert` 或查看器的“转换”面板将其写为 GGUF。',
  'You need not do anything.': '无需处理。',
  'Set the right number, or remove the key.': '请设为正确的编号，或删除该键。',
  'Set the key again as u32.': '请以 u32 重新设置该键。',
  "Set the token's number, or remove the flag.": '请设置该 token 的编号，或删除该标志。',
  'Change `general.name`, or convert the model again.': '请更改 `general.name`，或重新转换模型。',
  "Also write the key in llama.cpp's spelling.": '请同时用 llama.cpp 的拼写写入该键。',
  'Set the whole text of tokenizer.json, or remove the key.': '请设为 tokenizer.json 的全文，或删除该键。',
  'Put all files into one folder, or name the others with `--shard`.':
    '请把所有文件放进同一文件夹，或用 `--shard` 指出其余文件。',
  'Give the file its own name, or split the model again with `ggufscope split`.':
    '请恢复文件自己的名称，或用 `ggufscope split` 重新拆分模型。',
  'Split the model again with `ggufscope split`, or set `split.count`.':
    '请用 `ggufscope split` 重新拆分模型，或设置 `split.count`。',
  'Look for a file of another version of the model, or split it again with `ggufscope split`.':
    '请查找是否混入了该模型其他版本的文件，或用 `ggufscope split` 重新拆分。',
  'Correct it at the line and column: `ggufscope set FILE --file tokenizer.chat_template=PATH`.':
    '请在所指的行列处更正：`ggufscope set 文件 --file tokenizer.chat_template=路径`。',
  'Look for a field that is spelled wrong, or for another template language.':
    '请检查是否有拼写错误的字段，或使用了其他模板语言。',
  'Set `tokenizer.chat_template` if it is another format.':
    '如果是其他格式，请设置 `tokenizer.chat_template`。',
  'Convert or download the model again.': '请重新转换或下载模型。',
  'Rename the key to the one that the finding names, with `ggufscope set --rename OLD=NEW`.':
    '请用 `ggufscope set --rename 旧=新` 改为所指出的键名。',
  'Correct the key or the tensor that the message names, or convert the model again. A note needs no correction: another program may run the file.':
    '请更正消息所指的键或张量，或重新转换模型。如果只是提示，则无需更正：其他程序也许能运行该文件。',
  'Read the text and the condition around it.': '请阅读该文本及其外围的条件。',
  'Check that users should have it.': '请确认用户应当得到它。',
  'Set the key without them.': '请去掉它们后设置该键。',
  'Set one of the keys that the finding names, with `ggufscope set`.':
    '请用 `ggufscope set` 设置所指出的键之一。',
  'If the tensors are tied, leave one out: most loaders use the embeddings as output if there is none.':
    '如果张量是共享的，请省去一个：没有输出张量时，多数程序会用嵌入作输出。',
  '`audit()` with hashes: a file has none, because it is damaged. Another finding says more.':
    '带哈希的 `audit()`：某个文件没有哈希，因为它已损坏。另一条结果说明更多。',
  'Download or convert the file again.': '请重新下载或转换该文件。',
}
