export { createChatCompletion, streamChatCompletion } from './chat.js'
export { createCompletion, streamCompletion } from './completion.js'
export type * from './types.js'
