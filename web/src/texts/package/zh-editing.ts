// What the package says, in Chinese: errors of editing files. The English text is the key; see zh.ts.
export default {
  'The messages must be an array.': '消息必须是数组。',
  'Message {} is not an object with a role.': '消息 {0} 不是带角色的对象。',
  'The content of message {} is no string or array of parts.': '消息 {0} 的内容不是字符串或部分的数组。',
  'The chat template does not support documents.': '聊天模板不支持文档。',
  '{~} holds a part of type {} whose text is no string.': '{0}有一个类型为 {1} 的部分，其文本不是字符串。',
  '{~} holds a part that is no text and has no type.': '{0}有一个既不是文本也没有类型的部分。',
  '{~} holds a part of type {}, which is not known.': '{0}有一个未知类型 {1} 的部分。',
  '{~} holds an {} part, and the chat template has no place for one.':
    '{0}有 {1} 部分，而聊天模板没有它的位置。',
  '{~} holds a {} part, and the chat template has no place for one.':
    '{0}有 {1} 部分，而聊天模板没有它的位置。',
  'The chat template leaves out all messages: the option template may name a known format, such as "chatml".':
    '聊天模板略去了所有消息：选项 template 可指定已知格式，例如 "chatml"。',
  "Tools cannot be combined with a schema for this model's replies, whose parts have headers: leave one out.":
    '此模型的回答各部分带有标头，工具不能与模式同用：请去掉其一。',
  'Result of {}:': '{0} 的结果：',
  'tools[{}] is of type {}: only functions are known.': 'tools[{0}] 的类型为 {1}：只认识函数。',
  'tools[{}] needs a function.name of up to 64 letters, digits, _, - and dots.':
    'tools[{0}] 需要 function.name，最多 64 个字母、数字、_、- 和点。',
  'Two tools have the name {}.': '两个工具同名 {0}。',
  'The parameters of tools[{}] must be a JSON schema.': 'tools[{0}] 的参数必须是 JSON 模式。',
  'tool_choice names {}, and no tool has that name.': 'tool_choice 指定了 {0}，但没有该名称的工具。',
  'The choice of tools is {}: it is "auto", "none", "required" or { type: "function", function: { name } }.':
    '工具选择为 {0}：应为 "auto"、"none"、"required" 或 { type: "function", function: { name } }。',
  'The choice of tools asks for a call, and there are no tools.': '工具选择要求调用，但没有工具。',
  'Tools cannot be combined with a grammar: leave one out.': '工具不能与语法同用：请去掉其一。',
  'The model could not evaluate the decision.': '模型无法评估该决策。',
  'This decision model has no head that scores three types of questions.':
    '此决策模型没有给三类问题打分的头。',
  "This file's key decision.{} is {}: it must be above 0.": '此文件的键 decision.{0} 为 {1}：必须大于 0。',
  "This file's key decision.{} is {}, which cannot be used.": '此文件的键 decision.{0} 为 {1}，不能使用。',
  "This file's keys decision.score_bias.{}.* lack a level.":
    '此文件的键 decision.score_bias.{0}.* 缺少一个等级。',
  'This model is not a decision model: it has no key {}.decision.type.':
    '此模型不是决策模型：没有键 {0}.decision.type。',
  'The decision type {} is unknown; known: {~}.': '决策类型 {0} 未知；已知：{1}。',
  'This decision model has no chat template named "systemone".':
    '此决策模型没有名为 "systemone" 的聊天模板。',
  'This decision model has no valid key decision.max_head_tokens.':
    '此决策模型没有有效的键 decision.max_head_tokens。',
  'The decision label {} is not a single token of this model.': '决策标签 {0} 不是此模型的单个词元。',
  'The decision label of {} is not a single token of this model.': '{0} 的决策标签不是此模型的单个词元。',
  'The prompt that the model\'s template "systemone" writes has an unexpected layout.':
    '模型的模板 "systemone" 写出的提示词布局出乎意料。',
  "This decision model's vocabulary has no {} token.": '此决策模型的词表没有 {0} 词元。',
  'The file is a control vector, not a LoRA adapter.': '文件是控制向量，不是 LoRA 适配器。',
  "The file is not an adapter: general.type is {}, not 'adapter'.":
    "文件不是适配器：general.type 为 {0}，不是 'adapter'。",
  "adapter.type is {}, not 'lora'.": "adapter.type 为 {0}，不是 'lora'。",
  'The adapter is for the architecture {}, the model is of {}.': '适配器针对架构 {0}，而模型是 {1}。',
  '{} is empty.': '{0} 为空。',
  '{} must be an array of u32.': '{0} 必须是 u32 数组。',
  'Tensor {} is neither a .lora_a nor a .lora_b.': '张量 {0} 既不是 .lora_a 也不是 .lora_b。',
  'Tensor {} is in the file twice.': '张量 {0} 在文件中出现两次。',
  '{} has no .lora_b.': '{0} 没有 .lora_b。',
  '{} has no .lora_a.': '{0} 没有 .lora_a。',
  'The adapter changes {}, which the model does not have.': '适配器修改 {0}，而模型没有它。',
  "The adapter's {} has {~}: {~}.": '适配器的 {0} 有 {1}：{2}。',
  "The adapter changes token_embd.weight, which is this model's output, too.":
    '适配器修改 token_embd.weight，它也是此模型的输出。',
  'The data of tensor {} are floats, bytes, a Blob or a ByteSource, not {~}.':
    '张量 {0} 的数据应为浮点数、字节、Blob 或 ByteSource，不是 {1}。',
  'There is no key {} in that file.': '该文件中没有键 {0}。',
  'There is a key {} already.': '已有键 {0}。',
  '{} is {}, and {} holds another type: set {} and remove the other.':
    '{0} 为 {1}，而 {2} 是另一类型：请设置 {3} 并移除另一个。',
  'Tensor {}: [{~}] is not a shape.': '张量 {0}：[{1}] 不是形状。',
  'Version {} cannot be written: 2 or 3.': '无法写入版本 {0}：只能是 2 或 3。',
  'One file of a split model cannot get another vocabulary: edit all files together.':
    '拆分模型的单个文件不能换词表：请一起编辑所有文件。',
  'There is no key {}.': '没有键 {0}。',
  'There is no tensor {}.': '没有张量 {0}。',
  "A tensor's name must be a string, not {}.": '张量的名称必须是字符串，不是 {0}。',
  '{} is not a name of a tensor: 1 to {} bytes.': '{0} 不是张量的名称：1 到 {1} 字节。',
  'There is a tensor {} already.': '已有张量 {0}。',
  'A key must be a string, not {}.': '键必须是字符串，不是 {0}。',
  '{} is no key: it has a space.': '{0} 不是键：其中有空格。',
  '{} is no key: {} is not visible ASCII.': '{0} 不是键：{1} 不是可见的 ASCII 字符。',
  '{} is no key: it has 1 to {} characters.': '{0} 不是键：键有 1 到 {1} 个字符。',
  'There is no shard {}: the model has {}, from 0.': '没有分片 {0}：模型有 {1} 个，从 0 起。',
  'The first file of this model is not there, or is not the one to edit (shard {}, from 0).':
    '此模型的第一个文件不在，或不是要编辑的那个（分片 {0}，从 0 起）。',
  'There is no type "{}": u8, i32, f32, bool, string, ... or u8[], i32[], ...':
    '没有类型 "{0}"：u8、i32、f32、bool、string……或 u8[]、i32[]……',
  'An array of strings is no array of numbers.': '字符串数组不是数字数组。',
  '{} is no array, so that it has no entries to change.': '{0} 不是数组，因此没有可更改的条目。',
  '{} is an array of arrays. Set the whole value.': '{0} 是数组的数组。请设置整个值。',
  '{} has no entry {}: it has {}, from 0.': '{0} 没有条目 {1}：共有 {2} 个，从 0 起。',
  '{}[{}]: {} is no string.': '{0}[{1}]：{2} 不是字符串。',
  'The list of changes is not JSON.': '更改列表不是 JSON。',
  'That is not a list of changes: its format is not "{}".': '这不是更改列表：其格式不是 "{0}"。',
  'The list of changes has version {}. This program reads version 1.':
    '更改列表的版本为 {0}。此程序读取版本 1。',
  'Change {~} of the list is unknown to this program.': '此程序不认识列表中的更改 {0}。',
  'There is no tensor "{}" in this file.': '此文件中没有张量 "{0}"。',
  'A tensor of the name __metadata__ has no place in safetensors.':
    '名为 __metadata__ 的张量在 safetensors 中没有位置。',
  'safetensors holds a name once: there are two tensors of the name {}.':
    'safetensors 中名称唯一：有两个名为 {0} 的张量。',
  'The importance matrix cannot be used: value {} for {} is {}.': '重要性矩阵不能使用：{1} 的值 {0} 为 {2}。',
  'The importance matrix cannot be used: {} has {} sums, and {} counts belong to them.':
    '重要性矩阵不能使用：{0} 有 {1} 个和，对应 {2} 个计数。',
  'This is no importance matrix: the GGUF file ({~}) has no tensor whose name ends in .in_sum2.':
    '这不是重要性矩阵：GGUF 文件（{0}）没有以 .in_sum2 结尾的张量。',
  'importance is an open file of this package or a Map of columns.':
    'importance 应为此包打开的文件或列的 Map。',
  'The importance matrix has no entries.': '重要性矩阵没有条目。',
  'The imatrix ends at byte {}, within an entry.': 'imatrix 在字节 {0} 处结束，位于条目中间。',
  'This is no imatrix: it would have {~}.': '这不是 imatrix：它会有 {0}。',
  '{} is {}, not an array. A type given with it overrides this.':
    '{0} 为 {1}，不是数组。同时给出的类型会覆盖它。',
  '{} is {}, not a single value. A type given with it overrides this.':
    '{0} 为 {1}，不是单个值。同时给出的类型会覆盖它。',
  'The size of tensor {} is unknown, since its type {} and the size of the file are not known.':
    '张量 {0} 的大小未知，因为其类型 {1} 和文件大小都未知。',
  'Tensor {}: there is no type {}.': '张量 {0}：没有类型 {1}。',
  'Tensor {} needs {} of {}, not {}.': '张量 {0} 需要 {2} 的 {1}，不是 {3}。',
  'Rows of {} are no whole blocks of {}: tensor {} cannot be {~}.':
    '{0} 的行不是 {1} 的整数个块：张量 {2} 不能是 {3}。',
  'Tensor {} cannot become {} without importance.': '没有重要性数据，张量 {0} 不能变为 {1}。',
  'Tensor {} has {}, its importance {}.': '张量 {0} 有 {1}，其重要性有 {2}。',
  'The file cannot be written: {~}.': '无法写入文件：{0}。',
  'general.alignment must be a power of two, not {}: llama.cpp refuses other files.':
    'general.alignment 必须是 2 的幂，而不是 {0}：llama.cpp 会拒绝其他文件。',
  'Tensor {} has super-blocks of 64, {} would have 256: no file has both. Another type for one of them will do.':
    '张量 {0} 有 64 的超级块，{1} 会有 256：没有文件两者兼有。其一换类型即可。',
  "An adapter's scale must be a finite number, not {}.": '适配器的强度必须是有限数，不是 {0}。',
  'An activated adapter cannot be merged, because it has no effect before its invocation tokens.':
    '需激活的适配器不能合并，因为它在触发词元之前不起作用。',
  'Tensor {}: type {} cannot be dequantized.': '张量 {0}：类型 {1} 不能反量化。',
  'That is no open file of this package.': '这不是此包打开的文件。',
  'There is no type {}, which {} is to get.': '没有 {1} 要用的类型 {0}。',
  'No tensor\'s name matches "{}", which is to get {}.': '没有张量名称匹配 "{0}"，它本应变为 {1}。',
  'Tensor {} cannot be {}: its rows of {} are no whole blocks of {}, {}. Give it another type ("{}=F16"), or take another mixture.':
    '张量 {0} 不能是 {1}：其 {2} 的行不是 {3} 的整数个块，{4}。请给它另一类型（"{5}=F16"），或换一种混合方案。',
  'Tensor {}: there is no quantizer of type {}.': '张量 {0}：没有类型 {1} 的量化器。',
  'The importance matrix has {} for {}, which has {}: it is of another model.':
    '重要性矩阵对 {1} 有 {0}，而它有 {2}：属于另一模型。',
  'There is no mixture {}: it is one of {~}.': '没有混合方案 {0}：可选 {1}。',
  'The importance matrix is of another model: none of its {~} ({~}) is a tensor of this one.':
    '重要性矩阵属于另一模型：其 {0}（{1}）都不是此模型的张量。',
  'Tensor {} is quantized already ({}): as {} it would have the errors of both ({~}). Take the original, or allow it (allowRequantize; --allow-requantize).':
    '张量 {0} 已量化（{1}）：变为 {2} 会叠加两者的误差（{3}）。请用原始文件，或允许它（allowRequantize；--allow-requantize）。',
  'the importance matrix has no entry for it: was it made of this model?':
    '重要性矩阵没有它的条目：它来自此模型吗？',
  "give a file of llama.cpp's imatrix (importance; --imatrix).":
    '请给出 llama.cpp 的 imatrix 文件（importance；--imatrix）。',
  '{} is no limit for a file: at least 1.': '{0} 不能作为文件的上限：至少为 1。',
  'Tensor {} has an old layout or byte order: convert the file first.':
    '张量 {0} 的布局或字节序是旧式的：请先转换文件。',
  'Tensor {}: no mean of rows of {} can be computed. Add the tokens with rows of zeros.':
    '张量 {0}：{1} 的行不能求平均。请用零行添加词元。',
  'Tensor {} has {} for {}.': '张量 {0} 有 {1}，对应 {2}。',
  'Tensor {} of type {} cannot get other rows.': '类型为 {1} 的张量 {0} 不能换行。',
  'Tensor {} of {} cannot be quantized: {~}.': '{1} 的张量 {0} 不能量化：{2}。',
  'Tensor {} cannot be {}: {~} is {}, {~}.': '张量 {0} 不能是 {1}：{2} 为 {3}，{4}。',
  'The vocabulary of a big-endian file or of GGUF version 1 cannot be changed: convert the file first.':
    '大端序文件或 GGUF 版本 1 的词表不能更改：请先转换文件。',
  '{} is no array of strings or numbers.': '{0} 不是字符串或数字的数组。',
  'The file has no vocabulary ({~}).': '文件没有词表（{0}）。',
  '{} has {} for {}. Change that first.': '{0} 有 {1}，对应 {2}。请先更改它。',
  'A token needs a text.': '词元需要文本。',
  'Token {}: there is no type "{}": {~}.': '词元 {0}：没有类型 "{1}"：{2}。',
  'Token {}: a byte token is written as <0x0A>.': '词元 {0}：字节词元写作 <0x0A>。',
  'Token {}: normal tokens of this vocabulary are found only by merges. Take user-defined or control.':
    '词元 {0}：此词表的普通词元只能通过合并找到。请用 user-defined 或 control。',
  'Token {}: {} is no score.': '词元 {0}：{1} 不是分数。',
  'There is a token {} already.': '已有词元 {0}。',
  'Token {}: the tokens of this vocabulary have no scores.': '词元 {0}：此词表的词元没有分数。',
  'The token {} has the ids {~}. Name one of them.': '词元 {0} 的编号有 {1}。请指定其一。',
  'There is no token {}.': '没有词元 {0}。',
  'There is no token {}: there are {}, from 0.': '没有词元 {0}：共有 {1} 个，从 0 起。',
  'Token {} ({}) is in use as {}. Set that key to another token, or remove it, first.':
    '词元 {0}（{1}）正用作 {2}。请先把该键设为另一词元，或移除它。',
  '{} cannot be written: {~}.': '无法写入 {0}：{1}。',
  '{} cannot be written: its links lead in a circle.': '无法写入 {0}：其链接形成循环。',
  '{} is there already.': '{0} 已存在。',
  '{} is no regular file: give another output.': '{0} 不是普通文件：请给出另一输出。',
  '{} of {~} were there.': '{1} 中有 {0} 存在。',
  'There is no memory for {}: take stream() or blob().': '没有 {0} 的内存：请用 stream() 或 blob()。',
  'Message {}': '消息 {0} ',
  '{} are more than a model can have: {}.': '{0}超过一个模型可有的数量：{1}。',
  'A commit sends a new header only, but this change also changes tensor data: write a new file, and upload it.':
    '提交只发送新的文件头，但这项更改还改变张量数据：请写出新文件再上传。',
  'Files of split models cannot be committed: edit a copy, and upload it.':
    '拆分模型的文件不能提交：请编辑副本再上传。',
  'The hub could not be reached.': '无法连接 Hub。',
  'The hub: {}.': 'Hub：{0}。',
  'The hub answers {}: {}.': 'Hub 返回 {0}：{1}。',
  '{} has another size than when its header was read.': '{0} 的大小与读取文件头时不同。',
  '{} on the hub is another file now: open it again.': 'Hub 上的 {0} 现在是另一个文件：请重新打开。',
  '{} names no file on Hugging Face.': '{0} 不是 Hugging Face 上的文件。',
  'This repository takes whole files only, which a page cannot send: use the command line.':
    '这个仓库只接受完整文件，网页无法发送：请使用命令行。',
  'the byte order of type {} cannot be changed': '无法更改类型 {0} 的字节序',
  'there is no quantizer of type {}': '没有类型 {0} 的量化器',
  '{}: {~}.': '{0}：{1}。',
  'a value of GGUF is a number, text, a boolean or an array of these, not {}':
    'GGUF 的值是数字、文本、布尔值或由它们组成的数组，而不是 {0}',
  'a {} is no array that GGUF knows': '{0} 不是 GGUF 所知的数组',
  'an empty array has no type: give one': '空数组没有类型：请给出类型',
  'the elements of an array are of one type, not {}': '数组的元素只有一种类型，而不是 {0}',
  '{} is no {}': '{0} 不是 {1}',
  '{} is no array': '{0} 不是数组',
  '{} is no string': '{0} 不是字符串',
  'an array is no {}': '数组不是 {0}',
  'there is no value type {}': '没有值类型 {0}',
}
