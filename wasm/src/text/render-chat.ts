// The prompt of a conversation. A page renders in a worker, which is ended when it does not answer in time; elsewhere,
// and where there can be no worker, the bounds of the interpreter are all there is.
import { GgufError, type GgufErrorCode } from '../api/errors.js'
import { kTimeout, limit, renderTemplate, type TemplateOptions } from './render-template.js'
import type { ChatMessage, ChatTemplate, RenderChatOptions } from '../api/text.js'

export interface Call {
  readonly id: number
  readonly text: string
  readonly variables: Readonly<Record<string, unknown>>
  readonly options: TemplateOptions
}
export type Answer =
  | { readonly id: number; readonly text: string }
  | { readonly id: number; readonly code: GgufErrorCode; readonly message: string }

// What a worker may take longer than its interpreter, which looks at the clock between steps: its start, one long step.
const kGrace = 3000

function choose(templates: ReadonlyMap<string, ChatTemplate>, options: RenderChatOptions): ChatTemplate {
  const name =
    options.template ?? (options.tools?.length && templates.has('tool_use') ? 'tool_use' : 'default')
  const template =
    templates.get(name) ?? (options.template === undefined ? [...templates.values()][0] : undefined)
  if (template) return template
  const names = [...templates.keys()].map((known) => `"${known}"`).join(', ')
  throw new GgufError(
    'not-found',
    names === ''
      ? 'The file has no chat template, and its vocabulary suggests none.'
      : `The file has no chat template "${name}", but ${names}.`,
  )
}

let worker: Worker | undefined
let lastId = 0
let turn: Promise<Answer | undefined> = Promise.resolve(undefined)
// A page without a bundler: the worker does not find @huggingface/jinja. Or a policy forbids workers.
let refused = false

function inWorker(call: Call, timeout: number): Promise<Answer | undefined> {
  return new Promise((resolve) => {
    const done = (answer: Answer | undefined, end: boolean): void => {
      clearTimeout(timer)
      worker?.removeEventListener('message', heard)
      worker?.removeEventListener('error', broke)
      if (end) {
        worker?.terminate()
        worker = undefined
      }
      resolve(answer)
    }
    const heard = ({ data }: MessageEvent<Answer>): void => {
      if (data.id === call.id) done(data, false)
    }
    const broke = (): void => {
      refused = true
      done(undefined, true)
    }
    const timer = setTimeout(() => {
      const { code, message } = limit('it takes too long')
      done({ id: call.id, code, message }, true)
    }, timeout + kGrace)
    try {
      worker ??= new Worker(new URL('./template-worker.js', import.meta.url), { type: 'module' })
      worker.addEventListener('message', heard)
      worker.addEventListener('error', broke)
      worker.postMessage(call)
    } catch {
      // No worker, or variables that cannot be sent, such as functions.
      done(undefined, false)
    }
  })
}

export async function renderChat(
  templates: ReadonlyMap<string, ChatTemplate>,
  specialTexts: Readonly<Record<string, string>>,
  messages: readonly ChatMessage[],
  options: RenderChatOptions,
): Promise<string> {
  const variables = {
    ...specialTexts,
    tools: options.tools ?? null,
    documents: options.documents ?? null,
    add_generation_prompt: options.addGenerationPrompt ?? true,
    ...options.variables,
    messages,
  }
  const { text } = choose(templates, options)
  const { maxLength, timeout, now } = options
  const bounds = { maxLength, timeout, now }
  if (!refused && typeof Worker === 'function' && typeof document === 'object') {
    const call = { id: ++lastId, text, variables, options: bounds }
    // In turn: the clock of each begins when the one before is done.
    const answer = await (turn = turn.then(() => inWorker(call, timeout ?? kTimeout)))
    if (answer && 'text' in answer) return answer.text
    if (answer) throw new GgufError(answer.code, answer.message)
  }
  return renderTemplate(text, variables, bounds)
}
