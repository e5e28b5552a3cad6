// Chat templates are untrusted programs. core/jinja runs them with access to their input only, and limits steps,
// output, memory and depth, so that they can run on the page's own thread.
import { GgufError, quoted } from '../api/errors.js'
import type { AssetOptions } from '../api/assets.js'
import type { RenderChatOptions } from '../api/text.js'
import { JsonText } from '../chat/json-text.js'
import type { Span } from '../inspect.js'
import type { JinjaModule, WasmTemplate } from '../jinja.js'
import type { GlueOptions } from '../runtime/compile.js'
import { classOf, once, start, type Call } from '../runtime/module.js'

const kMaxLength = 4_000_000
const kMaxKept = 16

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** A rendered template. */
export interface Rendered {
  readonly text: string
  /** Runs of the text: from messages, tools and documents, or from the template itself. */
  readonly runs: readonly { readonly bytes: number; readonly content: boolean }[]
}

const jinjaModule = once<JinjaModule>(async (hosting) => {
  const module = await start<Record<string, Call>>(
    'jinja.wasm',
    hosting,
    () => new URL('../jinja.wasm', import.meta.url),
    import('../jinja.js') as Promise<unknown> as Promise<{
      default: (options: GlueOptions) => Promise<Record<string, Call>>
    }>,
  )
  return Object.assign(module, { ChatTemplate: classOf(module, 'ChatTemplate') }) as unknown as JinjaModule
})

// Parsed templates, the most recently used ones.
const kept = new Map<string, WasmTemplate>()

/** Calls a function with bytes copied to the heap. */
function withBytes<T>(module: JinjaModule, text: string, use: (pointer: number, length: number) => T): T {
  const bytes = encoder.encode(text)
  const pointer = module._malloc(Math.max(bytes.length, 1)) >>> 0
  if (pointer === 0)
    throw new GgufError('out-of-memory', `No memory for ${bytes.length} bytes of a conversation.`)
  try {
    module.HEAPU8.set(bytes, pointer)
    return use(pointer, bytes.length)
  } finally {
    module._free(pointer)
  }
}

function parsed(module: JinjaModule, source: string): WasmTemplate {
  let template = kept.get(source)
  kept.delete(source)
  template ??= withBytes(module, source, (pointer, length) => new module.ChatTemplate(pointer, length))
  kept.set(source, template)
  if (kept.size > kMaxKept) {
    const [[oldest, one]] = kept as unknown as [[string, WasmTemplate]]
    kept.delete(oldest)
    one.delete()
  }
  return template
}

/** Templates of Go, which Ollama has: `{{ .Prompt }}`, `{{- if .System }}`, `{{ range $i, $m := .Messages }}`. */
const kGo = /\{\{-?\s*(?:(?:(?:else )?if|range|with)\s+(?:\w+\s+|\()*)?(?:[.$][\w\s}]|\/\*)/

function failure(template: WasmTemplate, source: string): GgufError {
  const line = template.errorLine()
  const column = template.errorColumn()
  const details = line > 0 ? { line, column } : {}
  const isGo = line > 0 && kGo.test(source.split('\n', line)[line - 1]!)
  const message = isGo
    ? 'this is a Go template, as Ollama has them, and not Jinja: take the template of the original model'
    : template.errorMessage()
  if (template.errorKind() === 2)
    return new GgufError(
      'chat-template-limit',
      line > 0
        ? `The chat template was stopped at line ${line}, column ${column}: ${message}.`
        : `The chat template was stopped: ${message}.`,
      details,
    )
  return new GgufError(
    'chat-template',
    line > 0
      ? `The chat template fails at line ${line}, column ${column}: ${message}`
      : `The chat template fails: ${message}`,
    details,
  )
}

/** Variables as JSON. Integers of any size and JsonText keep their digits. */
export function variablesJson(variables: Readonly<Record<string, unknown>>): string {
  const exact: string[] = []
  const mark = `${crypto.getRandomValues(new Uint32Array(4)).join('-')}:` // random, so no other text contains it
  try {
    const json = JSON.stringify(variables, function (this: Record<string, unknown>, key, value: unknown) {
      const given = this[key]
      if (given instanceof JsonText) return `${mark}${exact.push(given.text) - 1}`
      return typeof given === 'bigint' ? `${mark}${exact.push(String(given)) - 1}` : value
    })
    return exact.length === 0
      ? json
      : json.replaceAll(new RegExp(`"${mark}(\\d+)"`, 'g'), (_, i: string) => exact[Number(i)]!)
  } catch (error) {
    throw new GgufError(
      'invalid-argument',
      `The template's variables cannot be written as JSON: ${quoted(error)}`,
    )
  }
}

const bytesOf = (module: JinjaModule, [pointer, length]: Span): Uint8Array =>
  module.HEAPU8.subarray(pointer >>> 0, (pointer >>> 0) + length)

type TemplateOptions = Pick<RenderChatOptions, 'maxLength' | 'now'>

/** Renders a template with the given variables. */
export async function renderTemplate(
  source: string,
  variables: Readonly<Record<string, unknown>>,
  { maxLength = kMaxLength, now = new Date() }: TemplateOptions = {},
  hosting?: AssetOptions,
): Promise<Rendered> {
  const json = variablesJson(variables)
  const module = await jinjaModule(hosting)
  const template = parsed(module, source)
  template.setDate(now.getFullYear(), now.getMonth() + 1, now.getDate())
  template.setTime(
    now.getHours(),
    now.getMinutes(),
    now.getSeconds(),
    now.getMilliseconds() * 1000,
    Math.floor(now.getTime() / 1000),
  )
  if (!withBytes(module, json, (pointer, length) => template.render(pointer, length, true, maxLength)))
    throw failure(template, source)
  const [pointer, count] = template.runs()
  const pairs = new Uint32Array(module.HEAPU8.buffer, pointer >>> 0, count)
  const runs = Array.from({ length: count / 2 }, (_, i) => ({
    bytes: pairs[2 * i]!,
    content: pairs[2 * i + 1] === 1,
  }))
  return { text: decoder.decode(bytesOf(module, template.text())), runs }
}
