// What the package exports of chat formats: detection, parsing of replies, grammars for tools.
export { detectChatFormat, kChatFormatNames as chatFormatNames } from './formats.js'
export { toolGrammar } from './grammar.js'
export { createReplyParser } from './parser.js'
export type {
  ChatFormat,
  DetectOptions,
  FinishReason,
  FunctionTool,
  GrammarTrigger,
  ReplyDelta,
  ReplyMessage,
  ReplyParser,
  ReplyParserOptions,
  ReplyToolCallDelta,
  ToolCall,
  ToolChoice,
  ToolGrammar,
  ToolGrammarOptions,
} from './types.js'
