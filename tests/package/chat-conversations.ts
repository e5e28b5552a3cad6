// Conversations as OpenAI's clients send them, and the texts that their prompts must or must not contain.
import type { ChatMessage } from 'ggufscope'

export interface ConversationCase {
  readonly messages: readonly ChatMessage[]
  readonly tools?: readonly unknown[]
  readonly shows: readonly string[]
  readonly hides?: readonly string[]
}

export const kConversationTools = [
  {
    type: 'function',
    function: {
      name: 'get_weather',
      description: 'Tells the weather',
      parameters: {
        type: 'object',
        properties: { city: { type: 'string', description: 'where' }, n: { type: 'number' } },
        required: ['city'],
      },
    },
  },
  { type: 'function', function: { name: 'clock' } },
]
const tools = kConversationTools
const first = 'call_abcdefghijkl1234'
const second = 'call_abcdefghijkl5678'
const call = (id: string, name: string, args: unknown) => ({
  id,
  type: 'function',
  function: { name, arguments: args },
})
const kText = '{"city": "Zürich", "n": 1.0, "big": 12345678901234567890}'
const kObject = { city: 'Zürich', n: 2, nothing: null, ok: true }
const user = (content: unknown): ChatMessage => ({ role: 'user', content })
const part = (text: string) => ({ type: 'text', text })
const calling = (...tool_calls: unknown[]): ChatMessage => ({ role: 'assistant', content: null, tool_calls })
const result = (tool_call_id: string, content: unknown): ChatMessage => ({
  role: 'tool',
  tool_call_id,
  content,
})
const printed = ['"text"', "'text'", '\\"text']

export const kConversations: Readonly<Record<string, ConversationCase>> = {
  text: {
    messages: [user('ASKED'), { role: 'assistant', content: 'ANSWERED' }, user('AGAIN')],
    shows: ['ASKED', 'ANSWERED', 'AGAIN'],
  },
  parts: { messages: [user([part('FIRST'), part('SECOND')])], shows: ['FIRST', 'SECOND'], hides: printed },
  'parts of every role': {
    messages: [
      { role: 'system', content: [part('SYSTEM')] },
      user([part('ASKED')]),
      { role: 'assistant', content: [part('ANSWERED')] },
      user([part('AGAIN')]),
    ],
    shows: ['SYSTEM', 'ASKED', 'ANSWERED', 'AGAIN'],
    hides: printed,
  },
  system: { messages: [{ role: 'system', content: 'SYSTEM' }, user('ASKED')], shows: ['SYSTEM', 'ASKED'] },
  developer: {
    messages: [{ role: 'developer', content: 'DEVELOPER' }, user('ASKED')],
    shows: ['DEVELOPER', 'ASKED'],
  },
  'several of the system': {
    messages: [
      { role: 'system', content: 'SYSTEM' },
      { role: 'developer', content: 'DEVELOPER' },
      user('ASKED'),
      { role: 'assistant', content: 'ANSWERED' },
      { role: 'system', content: 'LATER' },
      user('AGAIN'),
    ],
    shows: ['SYSTEM', 'DEVELOPER', 'ASKED', 'ANSWERED', 'LATER', 'AGAIN'],
  },
  'null content': {
    messages: [user('ASKED'), { role: 'assistant', content: null }, user('AGAIN')],
    shows: ['ASKED', 'AGAIN'],
    hides: ['None', 'null'],
  },
  'two in a row': {
    messages: [user('ASKED'), user([part('AGAIN')])],
    shows: ['ASKED', 'AGAIN'],
    hides: printed,
  },
  tools: {
    tools,
    messages: [user('ASKED')],
    shows: ['get_weather', 'clock', 'Tells the weather', 'city', 'ASKED'],
  },
  'arguments as text': {
    tools,
    messages: [
      user('ASKED'),
      { ...calling(call(first, 'get_weather', kText)), refusal: null },
      result(first, 'RESULT'),
    ],
    shows: ['get_weather', 'Zürich', '1.0', '12345678901234567890', 'RESULT'],
    hides: ['\\"city'],
  },
  'arguments as an object': {
    tools,
    messages: [
      user('ASKED'),
      { ...calling(call(first, 'get_weather', kObject)), content: '' },
      result(first, [part('RESULT')]),
      { role: 'assistant', content: 'ANSWERED' },
    ],
    shows: ['get_weather', 'Zürich', 'RESULT', 'ANSWERED'],
    hides: ['\\"city', "'text'"],
  },
  'parallel calls': {
    tools,
    messages: [
      user('ASKED'),
      calling(call(first, 'get_weather', kText), call(second, 'clock', '')),
      result(first, 'RESULT ONE'),
      result(second, 'RESULT TWO'),
    ],
    shows: ['get_weather', 'Zürich', 'clock', 'RESULT ONE', 'RESULT TWO'],
  },
  'calls without tools': {
    messages: [user('ASKED'), calling(call(first, 'get_weather', kText)), result(first, 'RESULT')],
    shows: ['get_weather', 'Zürich', 'RESULT'],
    hides: ['\\"city'],
  },
  'reasoning, text and a call': {
    tools,
    messages: [
      user('ASKED'),
      { ...calling(call(first, 'get_weather', kText)), content: 'SAID', reasoning_content: 'THOUGHT' },
      result(first, 'RESULT'),
    ],
    shows: ['Zürich', 'RESULT'],
  },
  'calls of the older form': {
    messages: [
      user('ASKED'),
      { role: 'assistant', content: null, function_call: { name: 'clock', arguments: '{}' } },
      { role: 'function', name: 'clock', content: 'RESULT' },
    ],
    shows: ['clock', 'RESULT'],
  },
}
