export { detectChatFormat, kChatFormatNames as chatFormatNames } from './formats.js'
export { toolGrammar } from './grammar.js'
export { createReplyParser } from './parser.js'
export type {
  ChatFormat,
  DetectOptions,
  FunctionTool,
  GrammarTrigger,
  ReplyDelta,
  ReplyParser,
  ReplyParserOptions,
  ReplyToolCallDelta,
  ToolChoice,
  ToolGrammar,
  ToolGrammarOptions,
} from './types.js'
