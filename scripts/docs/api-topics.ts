// The parts of the API reference that have pages of their own: an entry point with many types is too much for one page.

export interface Topic {
  /** of the page: "chat" of the entry "engine" is engine-chat.md */
  readonly name: string
  readonly title: string
  /** the symbols that it takes; the first topic that takes one has it */
  readonly takes: RegExp
}

const topic = (name: string, title: string, takes: RegExp): Topic => ({ name, title, takes })

/** By the page of the entry. What no topic takes stays on that page. */
export const kTopics: Readonly<Partial<Record<string, readonly Topic[]>>> = {
  ggufscope: [
    topic('file', 'GgufFile', /^GgufFile$/),
    topic(
      'metadata',
      'Metadata',
      /^(Metadata|LazyArray|KeyMeaning|RepeatedKey|ValueType|Scalar|NumericArray)/,
    ),
    topic('builder', 'GgufBuilder', /^GgufBuilder$/),
    topic(
      'text',
      'Tokenizers and chat templates',
      /^(Tokeni?z?e?r?|Encode|Decode|Count|StreamDecoder|Chat|RenderChat|Special|TextPieces)/,
    ),
    topic(
      'checks',
      'Comparison, findings and memory',
      /^(Compar|KeyDifference|ValueError|TensorComparison|Finding|Lint|.*Memory|KvType)/,
    ),
    topic(
      'tensors',
      'Tensors and their values',
      /^(Tensor|Read|LineStats|Distribution|Quantize|StatsOptions|Requantize|MergeAdapter|Floats|TypeShare)/,
    ),
  ],
  engine: [
    topic('model', 'Model', /^Model$/),
    topic('openai', "Functions with OpenAI's requests", /^(create|stream)(?!Reply)/),
    topic('openai-requests', "Requests of OpenAI's API", /Request$|^(StreamOpt|Call|ResponseF|SpeechOpt)/),
    topic(
      'openai-answers',
      "Answers of OpenAI's API",
      /Answer$|^(ChatComp|Completion|Usage|.*Logprob|ToolCallDelta|ChatFinish|Verbose|ReplyMessage)/,
    ),
    topic(
      'chat',
      'Chats, tools and grammars',
      /^(Chat|chatF|EncodeChat|FunctionTool|Tool|toolG|Reply|createReply|[Dd]etect|Grammar|schemaTo|JsonSchema)/,
    ),
    topic(
      'generate',
      'Generated text, and a look inside',
      /^(Sampl|Generate|Piece|TokenProb|Finish|Warning|Trace$|TraceOptions|Layer|Head|AttentionHead)/,
    ),
    topic(
      'speech',
      'Speech',
      /^(Speech|speech|Speak|Spoken|[Tt]ranscri|to(Srt|Vtt|Text|Wav)$|decodeWav|AudioBuffer|AudioInput)/,
    ),
    topic(
      'embeddings',
      'Embeddings, rankings and decisions',
      /^([Ee]mbed|Rerank|Ranked|.*Question|.*Decision|Decision|Decide|Pooling)/,
    ),
    topic('media', 'Images and audio', /^(Image|Audio|Encode.*Media|Encoded|RawImage|Media|Base64)/),
  ],
  edit: [
    topic('builder', 'GgufBuilder', /^GgufBuilder$/),
    topic('write', 'Written files', /^(Written|Write|Build|Split|FilePart|MergeReport|Quantize)/),
    topic('hub', 'Commits to a hub', /^([Hh]ub|[Cc]ommit)/),
  ],
}
