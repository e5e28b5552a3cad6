// The standard conversations with which the audit renders a chat template, the plainest first. Together they reach what
// templates write for systems, tools, reasoning, documents, images and long conversations.

import { kCommonVariables } from '../text/lint-templates.js'

const kFunction = {
  name: 'weather',
  description: 'zq',
  parameters: {
    type: 'object',
    properties: {
      city: { type: 'string', description: 'zq', enum: ['a'] },
      days: { type: 'array', items: {} },
    },
    required: ['city'],
  },
}
const kTools = [{ type: 'function', function: kFunction }]
const user = (content: unknown = 'zq'): Message => ({ role: 'user', content })
const assistant = (more: object = {}): Message => ({ role: 'assistant', content: 'zq', ...more })
const call = (args: unknown): object => ({
  ...{ id: 'abc123456', type: 'function', function: { name: 'weather', arguments: args } },
})
const parts = (...types: readonly string[]): unknown[] =>
  types.map((type) => (type === 'text' ? { type, text: 'zq' } : { type, [type]: 'zq' }))

interface Message {
  readonly role: string
  readonly content: unknown
}
type Variables = Readonly<Record<string, unknown>>

const kSystem: Message = { role: 'system', content: 'zq' }
const kDeveloper: Message = { role: 'developer', content: 'zq' }
const result = (role: string): Message & object => ({
  ...{ role, content: 'zq', name: 'weather', tool_call_id: 'abc123456' },
})

/** A call, its result and the answer, with arguments as an object and as text. */
const called = (args: unknown, role: string): Message[] => [
  user(),
  assistant({ content: '', tool_calls: [call(args)], reasoning_content: 'zq', thinking: 'zq' }),
  result(role),
  assistant(),
  user(),
]
const kTurns = [user(), assistant({ reasoning_content: 'zq' }), user()]
const kLong = Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? user() : assistant()))

const kMessages: readonly (readonly Message[])[] = [
  [user()],
  [kSystem, user()],
  [kDeveloper, user()],
  kTurns,
  [kSystem, ...kTurns, assistant()],
  [...kLong, user()],
  [user(parts('text'))],
  [{ role: 'system', content: parts('text') }, user(parts('image', 'text', 'audio', 'video'))],
  ...['tool', 'ipython', 'function'].flatMap((role) => [
    called({ city: 'a', days: ['b'] }, role),
    called('{"city":"a"}', role),
  ]),
]

/** What templates ask besides messages and tools. */
const kSwitches: readonly Variables[] = [
  {},
  { enable_thinking: false, thinking: false, reasoning_effort: 'low' },
  { enable_thinking: true, thinking: true, reasoning_effort: 'high', preserve_thinking: true },
  { add_generation_prompt: false },
]
const kOffers: readonly Variables[] = [
  { tools: null },
  { tools: kTools, tools_in_user_message: false },
  { tools: kTools, tool_choice: 'required', parallel_tool_calls: true, builtin_tools: ['browser', 'python'] },
  { tools: [kFunction], functions: JSON.stringify(kTools), datetime: 'zq', date_string: '1 Jan 2024' },
  { tools: null, documents: [{ title: 'zq', text: 'zq', doc_id: 1 }], controls: { length: 'long' } },
]

/** The variables of each rendering. */
export const kConversations: readonly Variables[] = kOffers.flatMap((offer) =>
  kMessages.flatMap((messages) =>
    kSwitches.map((switches) => ({ ...kCommonVariables, ...switches, ...offer, messages })),
  ),
)
