// What the package says, in Chinese: errors of tokenizers, media, speech and graphics cards. The English text is the key; see zh.ts.
export default {
  'tokenizer.ggml.merges is missing: words fall into bytes': '缺少 tokenizer.ggml.merges：单词分解为字节',
  'tokenizer.ggml.merges is no array of strings: it is ignored':
    'tokenizer.ggml.merges 不是字符串数组：被忽略',
  'tokenizer.ggml.merges is too long: it is ignored': 'tokenizer.ggml.merges 太长：被忽略',
  '{} merges do not name two parts': '{0} 个合并没有给出两个部分',
  '{} merges name texts that are no tokens': '{0} 个合并给出的文本不是词元',
  '{#byte has/bytes have} no token': '{0} 个字节没有词元',
  'no line of a token': '不是词元的行',
  'unknown escape': '未知的转义',
  'a token is not as long as its line says': '词元的长度与其行所述不符',
  '{} {~}: texts are not normalized': '{0} {1}：文本不规范化',
  'is no array of bytes': '不是字节数组',
  'is too short': '太短',
  'announces more than it holds': '声明的多于其包含的',
  'no string at byte {} in {}': '{1} 的字节 {0} 处没有字符串',
  '{~} at byte {} in {}': '{0}，位于 {2} 的字节 {1}',
  "a token's id does not follow the one before": '词元编号没有接续前一个',
  'the file has no tokens: tokenizer.ggml.tokens is missing': '文件没有词元：缺少 tokenizer.ggml.tokens',
  'no array of strings at byte {} in tokenizer.ggml.tokens':
    'tokenizer.ggml.tokens 的字节 {0} 处没有字符串数组',
  'too many tokens at byte {} in tokenizer.ggml.tokens': 'tokenizer.ggml.tokens 的字节 {0} 处词元过多',
  '{#token has/tokens have} the text of another, token {} first: the lower id is used':
    '{0} 个词元与另一词元文本相同，首先是词元 {1}：使用较小的编号',
  'tokenizer.ggml.scores is no array of numbers: every score is 0':
    'tokenizer.ggml.scores 不是数字数组：每个分数为 0',
  'there are fewer scores than tokens: the others are 0': '分数少于词元：其余为 0',
  'tokenizer.ggml.token_type is no array of integers: it is ignored':
    'tokenizer.ggml.token_type 不是整数数组：被忽略',
  'there are fewer token types than tokens: the others are normal': '词元类型少于词元：其余为普通',
  '{} names no token: it is ignored': '{0} 没有指定词元：被忽略',
  '{} is to be added to texts, but no token has that role': '{0} 应加到文本中，但没有词元具有该角色',
  '{} byte tokens are not spelled <0x00> to <0xFF>': '{0} 个字节词元没有写作 <0x00> 到 <0xFF>',
  'the file has no tokenizer: tokenizer.ggml.model is missing': '文件没有分词器：缺少 tokenizer.ggml.model',
  'the tokenizer is of an unknown kind: {}': '分词器种类未知：{0}',
  'tokenizer.ggml.pre is missing: texts are cut as llama.cpp does by default':
    '缺少 tokenizer.ggml.pre：按 llama.cpp 的默认方式切分文本',
  'tokenizer.ggml.pre is "{}", which is not known: texts are cut as llama.cpp does by default':
    'tokenizer.ggml.pre 为 "{0}"，未知：按 llama.cpp 的默认方式切分文本',
  '{} is not an array of a layer and a head for each of 1 to {#head}':
    '{0} 不是由层和头组成的数组（1 到 {1} 个头）',
  '{} names head {} of layer {}; the decoder has {#layer} of {#head}':
    '{0} 指定了第 {2} 层的头 {1}；解码器有 {3} 层，每层 {4} 个头',
  'cannot allocate an audio encoder': '无法为音频编码器分配内存',
  "the audio projector's embeddings have {} elements, but the model's have {}: they do not belong together":
    '音频投影器的嵌入有 {0} 个元素，模型的有 {1} 个：二者不匹配',
  'tensor mm.a.mlp.1.weight has {#row}, which is no gate and as many values':
    '张量 mm.a.mlp.1.weight 有 {0} 行：不是门加同样多的值',
  'clip.audio.attention.layer_norm_epsilon is missing': '缺少 clip.audio.attention.layer_norm_epsilon',
  'clip.audio.attention.head_count is {}, which does not share out {}':
    'clip.audio.attention.head_count 为 {0}，不能整除 {1}',
  'clip.audio.subsampling_factor is {}, and the convolutions shorten audio by 8':
    'clip.audio.subsampling_factor 为 {0}，而卷积将音频缩短 8 倍',
  'clip.audio.conv_kernel_size is even': 'clip.audio.conv_kernel_size 是偶数',
  'clip.audio.num_mel_bins, conv_kernel_size, max_pos_emb, projector.downsample_rate or projector.head_count does not fit the other sizes':
    'clip.audio.num_mel_bins、conv_kernel_size、max_pos_emb、projector.downsample_rate 或 projector.head_count 与其他大小不符',
  'clip.audio.rvq.codebook_size has not one number for each of rvq.num_quantizers':
    'clip.audio.rvq.codebook_size 不是每个 rvq.num_quantizers 一个数',
  'clip.audio.wa_pattern_mode has not one number for each of at least 3 blocks':
    'clip.audio.wa_pattern_mode 不是至少 3 个块每块一个数',
  'tensor {} has {#row} for {#code}': '张量 {0} 有 {1} 行，对应 {2} 个码',
  'no language "{}"': '没有语言 "{0}"',
  'this model does not know the language "{}"': '此模型不认识语言 "{0}"',
  'an audio context of {}; the model has {}': '音频上下文为 {0}；模型有 {1}',
  'at most 8 sequences are decoded side by side': '最多并排解码 8 个序列',
  'a temperature below 0': '温度低于 0',
  'a silence threshold below 0': '静音阈值低于 0',
  'tensor {} has an impossible shape': '张量 {0} 的形状不可能',
  '{}embedding_length is {}, which {#head} cannot share': '{0}embedding_length 为 {1}，{2} 个头无法均分',
  'the keys name more layers than the file has tensors': '键所述的层数多于文件的张量',
  'whisper.mel_filters has {#number}, {#mel} of 201 bins have {}':
    'whisper.mel_filters 有 {0} 个数，{1} 个梅尔频带各 201 个应有 {2}',
  'a spectrogram of {#value} for {} frames of output': '{0} 个值的频谱图，对应 {1} 帧输出',
  "a speech model's cache must be f32 or f16": '语音模型的缓存必须是 f32 或 f16',
  'no audio was encoded': '没有编码音频',
  "a token's position is beyond the context": '词元的位置超出上下文',
  '{#token} are not a Whisper vocabulary': '{0} 个词元不是 Whisper 词表',
  'a vocabulary of {#word}': '{0} 个词的词表',
  'an image of {#patch/patches} cannot be encoded': '{0} 个图像块的图像不能编码',
  'the projector has no position embeddings for {#patch/patches}': '投影器没有 {0} 个图像块的位置嵌入',
  'tensor v.blk.0.0.conv_exp.weight is missing': '缺少张量 v.blk.0.0.conv_exp.weight',
  'the attention of {} has parts that do not fit together': '{0} 的注意力的各部分不匹配',
  'the maps of the last two stages do not fit together': '最后两级的特征图不匹配',
  'the network gives {} tokens of {} elements instead of {} of {}':
    '网络给出 {0} 个 {1} 元素的词元，而不是 {2} 个 {3} 元素的',
  '{} is no three numbers': '{0} 不是三个数',
  'clip.use_gelu and clip.use_silu exclude each other': 'clip.use_gelu 与 clip.use_silu 互斥',
  'clip.vision.image_grid_pinpoints holds a size that is no whole tile':
    'clip.vision.image_grid_pinpoints 含有不是整图块的大小',
  'clip.vision.{} is missing': '缺少 clip.vision.{0}',
  'clip.vision.attention.head_count is {}, which does not share out {}':
    'clip.vision.attention.head_count 为 {0}，不能整除 {1}',
  'clip.vision.feature_layer holds {}, and there are {} layers':
    'clip.vision.feature_layer 含有 {0}，而共有 {1} 层',
  'patches cannot be merged {} to a side': '图像块不能按每边 {0} 个合并',
  'clip.vision.image_max_pixels is less than image_min_pixels':
    'clip.vision.image_max_pixels 小于 image_min_pixels',
  'clip.vision.image_size is less than a patch': 'clip.vision.image_size 小于一个图像块',
  'clip.vision.preproc_image_size is missing': '缺少 clip.vision.preproc_image_size',
  'clip.vision.attention.layer_norm_epsilon is missing': '缺少 clip.vision.attention.layer_norm_epsilon',
  'this projector has no image encoder': '此投影器没有图像编码器',
  'cannot allocate an image encoder': '无法为图像编码器分配内存',
  "the projector's embeddings have {} elements, but the model's have {}: they do not belong together":
    '投影器的嵌入有 {0} 个元素，模型的有 {1} 个：二者不匹配',
  'clip.vision.image_size is not a multiple of a token': 'clip.vision.image_size 不是词元大小的倍数',
  'heads of {} elements have no quarters': '{0} 个元素的头不能四等分',
  'clip.minicpmv_version is {}, and the known ones are 2 to 6 and 100045':
    'clip.minicpmv_version 为 {0}，已知的是 2 到 6 和 100045',
  'tensor resampler.proj.weight has {#row}, which are no heads of 128':
    '张量 resampler.proj.weight 有 {0} 行，不是 128 的头',
  'tensor resampler.pos_embed_k is missing': '缺少张量 resampler.pos_embed_k',
  'clip.vision.projector.scale_factor is neither 2 nor 4':
    'clip.vision.projector.scale_factor 既不是 2 也不是 4',
  'clip.vision.wa_layer_indexes holds no layer': 'clip.vision.wa_layer_indexes 不含任何层',
  'tensor v.vit_merger.ds_ffn_down.weight does not lead back to {} elements':
    '张量 v.vit_merger.ds_ffn_down.weight 没有回到 {0} 个元素',
  'clip.vision.preproc_image_size is missing, and image_size is 0':
    '缺少 clip.vision.preproc_image_size，且 image_size 为 0',
  'clip.vision.wa_pattern_mode does not have a number for each layer':
    'clip.vision.wa_pattern_mode 不是每层一个数',
  'clip.vision.spatial_merge_size is not 2': 'clip.vision.spatial_merge_size 不是 2',
  'clip.vision.wa_layer_indexes is missing': '缺少 clip.vision.wa_layer_indexes',
  'clip.vision.preproc_min_tiles is out of range': 'clip.vision.preproc_min_tiles 超出范围',
  'an image of {} x {} {~}': '{0} x {1} {2}',
  'has none': '没有像素',
  'has more than the {} that are taken': '超过可接受的 {0}',
  'more samples than were announced': '采样多于所声明的',
  'the audio has more than 2^31 samples; split it into parts': '音频超过 2^31 个采样；请分成几段',
  'a sampling rate of {} Hz: audio has from {} to {}': '采样率 {0} Hz：音频应为 {1} 到 {2}',
  'the audio is too long at the new rate': '新采样率下音频太长',
  "the projector's keys resize this image to less than one patch of {} pixels":
    '投影器的键会把此图像缩到小于一个 {0} 像素的图像块',
  "the projector's keys resize this image to more pixels than are supported":
    '投影器的键会把此图像放大到超过支持的像素数',
  'tensor {}0.attn_q.weight has {#row}, no {#head} of even length':
    '张量 {0}0.attn_q.weight 有 {1} 行，不是 {2} 个偶数长度的头',
  'tensor {}input_proj.weight is too large': '张量 {0}input_proj.weight 太大',
  'tensor a.gen.wav.quant_out.weight has too many rows': '张量 a.gen.wav.quant_out.weight 的行太多',
  'tensor a.gen.wav.seanet.conv_out.weight has {#channel}, not 1':
    '张量 a.gen.wav.seanet.conv_out.weight 有 {0} 个通道，不是 1 个',
  'a recording of a voice has no samples': '声音的录音没有采样',
  'a recording of a voice needs {} hundredths of a second, but this one has {}':
    '声音的录音至少需要 {0} 个百分之一秒，而此录音有 {1} 个',
  'a recording of a voice may have {} seconds, but this one has {}':
    '声音的录音可以有 {0} 秒，但这个有 {1} 秒',
  'the kernels of {}blk.* give too many samples for a frame': '{0}blk.* 的卷积核给一帧的采样过多',
  'the pipeline of speech {} needs a text model of {}, not {}': '语音管线 {0} 需要 {1} 的文本模型，不是 {2}',
  'the encoder of voices {} does not belong to the pipeline {}': '声音编码器 {0} 不属于管线 {1}',
  'cannot allocate a pipeline of speech': '无法为语音管线分配内存',
  "the pipeline of speech reads states of {} elements, but the model's have {}: they do not belong together":
    '语音管线读取 {0} 个元素的状态，而模型的有 {1} 个：二者不匹配',
  'tensor {} is too large for a kernel of a convolution': '张量 {0} 作为卷积核太大',
  'tensor {} has a kernel of {}, which is no even number': '张量 {0} 的核为 {1}，不是偶数',
  'tensor {} has another shape than its transposed convolution': '张量 {0} 的形状与其转置卷积不同',
  'the adapter is closed': '适配器已关闭',
  'a speech model caches keys and values in one type': '语音模型用同一类型缓存键和值',
  'a number past 2^53 at byte {} in tensor {}': '张量 {1} 的字节 {0} 处有超过 2^53 的数',
  'an unregistered type': '未注册的类型',
  'a vector of the model is in no tensor': '模型的某个向量不在任何张量中',
  'matrices that are read together have {#byte}, more than the device binds':
    '一起读取的矩阵有 {0} 字节，超过显卡可绑定的大小',
  'a matrix of the model is in no tensor': '模型的某个矩阵不在任何张量中',
  'tensor {} has type {}, for which there are no kernels': '张量 {0} 的类型为 {1}，没有对应的内核',
  'tensor {} is big-endian': '张量 {0} 是大端序',
  'tensor {} has rows of {#element}, no multiple of {}': '张量 {0} 每行有 {1} 个元素，不是 {2} 的倍数',
  'the activations of a batch have {#byte}, more than the device binds':
    '一批激活有 {0} 字节，超过显卡可绑定的大小',
  'the cache of a layer has {#byte}, more than the device binds':
    '一层的缓存有 {0} 字节，超过显卡可绑定的大小',
  'the states of a layer have {#byte}, more than the device binds':
    '一层的状态有 {0} 字节，超过显卡可绑定的大小',
  'vectors or the record of a pass have {#byte}, more than the device binds':
    '向量或一次计算的记录有 {0} 字节，超过显卡可绑定的大小',
  'experts read a sum that no router computed': '专家读取了没有路由器计算的和',
  'it is the decoder of a codec': '它是编解码器的解码器',
  'it is a draft model that reads hidden states': '它是读取隐藏状态的草稿模型',
  'it has a decision head': '它有决策头',
  'it has several residual streams': '它有多条残差流',
  'two stacks of layers run alternately': '两个层堆栈交替运行',
  'rows are normalized in parts': '行被分段归一化',
  'layers have inputs of their own': '层有自己的输入',
  'it switches adapters by tokens': '它用词元切换适配器',
  "layers add something else than their parts' outputs": '层加上的不是其各部分的输出',
  'norms of parts follow them without the residual stream': '各部分的归一化在其后且不含残差流',
  'the stream is normalized between runs of the layers': '流在层的各遍之间归一化',
  'some tokens are never generated': '有些词元永不生成',
  'the soft cap of logits is 0': 'logit 的软上限为 0',
  "parts read the layer's input": '各部分读取层的输入',
  'a control vector is active': '有控制向量处于启用状态',
  'layers have further parts': '层有更多部分',
  'outputs of layers are scaled': '层的输出被缩放',
  'it consists of convolutions': '它由卷积组成',
  'it has no layers': '它没有层',
  'its layers convolve': '其各层含有卷积',
  'it reads rows within a layer': '它在层的内部读取行',
  'a row is the product of too many matrices': '一行是过多矩阵的乘积',
  'inputs and outputs of its matrices are limited': '其矩阵的输入和输出有界限',
  'outputs of its layers are scaled': '其各层的输出被缩放',
  'a recurrent mixer and a feed-forward network are parallel': '循环混合器与前馈网络并行',
  'parallel parts have norms after them': '并行的各部分之后有归一化',
  "a layer's input is added again": '层的输入被再次相加',
  'a table of embeddings is larger than a binding': '嵌入表大于一次绑定',
  'the logits of some tokens are larger than a binding': '若干词元的 logit 大于一次绑定',
  'the weights of attention are larger than a binding': '注意力权重大于一次绑定',
  'rows of the encoder and of the decoder have different lengths': '编码器与解码器的行长度不同',
  'the logits of one token are larger than a binding': '一个词元的 logit 大于一次绑定',
  'experts and attention are parallel': '专家与注意力并行',
  'the lists for few and for many tokens end differently': '少量与大量词元的列表结尾不同',
  'a norm of heads has an unknown shape': '头的归一化形状未知',
  'queries and keys have norms of different shapes': 'Q 和 K 的归一化形状不同',
  'the gate of attention is a softplus to the base 2': '注意力的门是以 2 为底的 softplus',
  'layers attend to selected positions only': '层只注意选定的位置',
  'heads of {} and {} elements': '{0} 和 {1} 个元素的头',
  "projections are clamped, but not the gate's": '投影被截断，但门的没有',
  'the cache is quantized; the kernels store f32 and f16': '缓存已量化；内核存储 f32 和 f16',
  'experts read a projection of the stream': '专家读取流的投影',
  'the sum of experts is scaled': '专家之和被缩放',
  'layers have {} experts, more than {}': '层有 {0} 个专家，超过 {1} 个',
  'a token has no experts': '词元没有专家',
  'layers have a shared expert and a dense network': '层有共享专家和稠密网络',
  'an activation function has no kernel': '某个激活函数没有内核',
  'latent attention has a gate, or a norm of the rotated part': '潜在注意力有门，或对旋转部分归一化',
  'latent attention and a feed-forward network are parallel': '潜在注意力与前馈网络并行',
  'convolutions see the tokens on both sides': '卷积看到两侧的词元',
  'of B and C of a scan, one is normalized': '扫描的 B 和 C 中有一个被归一化',
  'rows of dt, B and C have {} elements': 'dt、B 和 C 的行有 {0} 个元素',
  'parts of {} elements are normalized': '{0} 个元素的部分被归一化',
  'heads of {} elements': '{0} 个元素的头',
  'these are not whole rows of tensor {} in steps of {}': '这不是张量 {0} 按 {1} 步长的整数行',
  'the cells of {#token} are too scattered for one pass on the device':
    '{0} 个词元的单元过于分散，显卡无法一遍完成',
  '{#token is/tokens are} empty': '{0} 个词元为空',
  'the outputs of {} tokens are {} numbers, not {}': '{0} 个词元的输出是 {1} 个数，不是 {2} 个',
  'the device has not computed this text': '显卡没有计算此文本',
  'the tensors {}conv_pw*.weight and se_conv2.weight need kernels of 1':
    '张量 {0}conv_pw*.weight 和 se_conv2.weight 需要大小为 1 的核',
  'the tensors {}res2.* do not share {#channel} equally': '张量 {0}res2.* 不能均分 {1} 个通道',
  'the tensors a.asp_attn.weight and mm.a.fc.weight must give {#channel} and {}':
    '张量 a.asp_attn.weight 和 mm.a.fc.weight 必须给出 {0} 个通道和 {1}',
  'tensor {}codebook.weight has {#code}, but only {} have embeddings':
    '张量 {0}codebook.weight 有 {1} 个码，但只有 {2} 个有嵌入',
  'tensor {}.weight gives {#channel}, which are added to {}': '张量 {0}.weight 给出 {1} 个通道，加到 {2} 上',
  'the kernels of a.gen.wav.* give too many samples for a frame, or none':
    'a.gen.wav.* 的卷积核给一帧的采样过多或没有',
  'tensor {}tfm.in_proj.weight is too large': '张量 {0}tfm.in_proj.weight 太大',
  'tensor {}dac.post_conv.weight has {#channel}, not 1':
    '张量 {0}dac.post_conv.weight 有 {1} 个通道，不是 1 个',
  'a token takes {} on the graphics card and {} on the CPU.': '一个词元在显卡上需要 {0}，在 CPU 上需要 {1}。',
  'a window of {} s takes {} on the graphics card and {} on the CPU.':
    '一个 {0} 秒的窗口在显卡上需要 {1}，在 CPU 上需要 {2}。',
  'tensor {} is {} x {}, not {} x {}': '张量 {0} 为 {1} x {2}，而不是 {3} x {4}',
  'tensor {} has {} channels, not {}, or its keys have impossible values':
    '张量 {0} 有 {1} 个通道，而不是 {2} 个，或其键的值不可能',
  'the convolutions of {} do not fit each other': '{0} 的卷积彼此不匹配',
  'the keys kokoro.duration_predictor.albert.* describe another encoder':
    '键 kokoro.duration_predictor.albert.* 描述的是另一种编码器',
  'the LSTM {}{} has another width than its norm': 'LSTM {0}{1} 的宽度与其归一化不同',
  'of {}f0_blocks and of n_blocks, one block each must have a pool_weight':
    '{0}f0_blocks 和 n_blocks 中必须各有一个块带有 pool_weight',
  'tensor {}.weight has a kernel of an even length': '张量 {0}.weight 的卷积核长度为偶数',
  'the convolutions of {} give other rows than they read': '{0} 的卷积输出的行与读入的行不同',
  'the kernel, the bias or the keys of tensor {}.weight do not fit':
    '张量 {0}.weight 的卷积核、偏置或键不匹配',
  'the strides give too many samples for a frame': '步长使一帧的采样过多',
  'tensor {}{}.conv_weight gives another number of channels': '张量 {0}{1}.conv_weight 输出的通道数不同',
  'the rows of the harmonic source do not fit those of the sound': '谐波源的行与声音的行不匹配',
  'tensor {}conv_post_weight makes no spectra': '张量 {0}conv_post_weight 不产生频谱',
  'the keys kokoro.decoder.generator.n_fft and hop do not fit':
    '键 kokoro.decoder.generator.n_fft 与 hop 不匹配',
  'the rows of the tensors kokoro.decoder.* do not fit each other': '张量 kokoro.decoder.* 的行彼此不匹配',
  'kokoro.decoder.generator.up_sampling_factor is {}, but the strides give {}':
    'kokoro.decoder.generator.up_sampling_factor 为 {0}，但步长得出 {1}',
  'the durations that the model computes are not numbers': '模型算出的时长不是数字',
  'a part of the text takes {#frame} of sound, more than the limit of {}: cut it into sentences, or speak faster':
    '文本的一部分需要 {0} 帧声音，超过上限 {1}：请分成句子，或说得更快',
  'tokenizer.ggml.tokens is missing: it is the alphabet': '缺少 tokenizer.ggml.tokens：它是字母表',
  'the alphabet has more characters than the model has embeddings': '字母表的字符比模型的嵌入多',
  'kokoro.voices is missing: there is no voice': '缺少 kokoro.voices：没有声音',
  'tensor {} has rows of an odd length': '张量 {0} 的行长度为奇数',
  'tensor {} has rows of another length than the other voices': '张量 {0} 的行长度与其他声音不同',
  'this projector has no image encoder: it cannot read images': '此投影器没有图像编码器：无法读取图像',
  'this projector has no audio encoder: it cannot read audio': '此投影器没有音频编码器：无法读取音频',
  'rows beyond the reserved room': '行超出预留空间',
  'pixels beyond the reserved room': '像素超出预留空间',
  'it is cut short': '数据被截断',
  'its header has {}': '其文件头有 {0}',
  'it has no header or no pixels': '缺少文件头或像素',
  'its pixels are not compressed as they should be': '其像素的压缩方式不正确',
  'a line has the filter {}': '某一行使用过滤器 {0}',
  'it has no palette': '缺少调色板',
  'it has colors of kind {} in {} bits': '颜色类型为 {0}，{1} 位',
  'its interlace method is {}': '其隔行方式为 {0}',
}
