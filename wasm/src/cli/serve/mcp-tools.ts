// The tools of the MCP server: one row for each.
import { checkOptions, flag, integer, text, type Check } from '../../api/checks.js'
import { GgufError, messageOf } from '../../api/errors.js'
import type { GgufFile, MetadataValue } from '../../node.js'
import { damageOf } from '../../file/damage.js'
import { openFile } from '../../edit/open-file.js'
import type { AuditedFile } from '../../audit/types.js'
import type { Context } from '../command.js'
import { jsonScalar } from '../format.js'

const kMaxOpen = 4
// Largest numbers of array elements and of text characters in a result.
const kMaxElements = 16
const kMaxText = 2000

type Given = Readonly<Record<string, unknown>>

interface Argument {
  readonly type: 'string' | 'integer' | 'boolean'
  readonly description: string
  readonly required?: boolean
}

interface Tool {
  readonly title: string
  readonly description: string
  readonly arguments: Readonly<Record<string, Argument>>
  run(file: GgufFile, given: Given, signal: AbortSignal): unknown
}

const kFile: Argument = {
  type: 'string',
  description: 'A path, an address (https:), or hf:owner/repository/file.gguf',
  required: true,
}
const kLimit: Argument = { type: 'integer', description: 'How many to give at most; default: 100' }
const kFrom: Argument = { type: 'integer', description: 'How many to leave out first; default: 0' }

function page<T>(all: readonly T[], { from = 0, limit = 100 }: Given): { total: number; items: T[] } {
  return { total: all.length, items: all.slice(Number(from), Number(from) + Number(limit)) }
}

const holds = (name: string, part: unknown): boolean =>
  part === undefined || name.toLowerCase().includes((part as string).toLowerCase())

/** Shortens long texts and arrays to their beginning. */
function shown(value: MetadataValue | undefined): unknown {
  if (typeof value === 'string' && value.length > kMaxText)
    return { length: value.length, begin: value.slice(0, kMaxText) }
  if (typeof value !== 'object' || value === null) return value
  const elements: unknown[] = []
  for (const element of value) {
    if (elements.length === kMaxElements) break
    elements.push(shown(element))
  }
  return value.length <= kMaxElements ? elements : { length: value.length, begin: elements }
}

const kTools: Readonly<Record<string, Tool>> = {
  open: {
    title: 'Open a file',
    description:
      'What the model is: name, architecture, parameters, quantization mix, context length, vocabulary, license, and whether the file is whole.',
    arguments: {},
    run: (file) => ({
      ...file.summary(),
      container: file.container,
      version: file.version,
      size: file.size,
      tensorCount: file.tensors.length,
      keyCount: file.metadata.size,
      shards: file.shards.length,
      bytesRead: file.bytesRead,
      damage: damageOf(openFile(file)),
    }),
  },
  metadata: {
    title: 'Read metadata',
    description:
      'Keys and values of the header, of those whose name holds a text; long arrays by their beginning.',
    arguments: {
      key: { type: 'string', description: 'A part of the names, such as "rope" or "tokenizer"' },
      from: kFrom,
      limit: kLimit,
    },
    run: (file, given) => {
      const { total, items } = page(
        [...file.metadata.keys()].filter((key) => holds(key, given['key'])),
        given,
      )
      return { total, metadata: Object.fromEntries(items.map((key) => [key, shown(file.metadata.get(key))])) }
    },
  },
  tensors: {
    title: 'List tensors',
    description: 'Name, shape, type, offset and bytes of the tensors whose name holds a text.',
    arguments: {
      name: { type: 'string', description: 'A part of the names, such as "blk.0." or "ffn_down"' },
      from: kFrom,
      limit: kLimit,
    },
    run: (file, given) => {
      const { total, items } = page(
        file.tensors.filter(({ name }) => holds(name, given['name'])),
        given,
      )
      return {
        total,
        tensors: items.map(({ name, shape, type, offset, byteLength }) => ({
          name,
          shape,
          type,
          offset,
          byteLength,
        })),
      }
    },
  },
  lint: {
    title: 'Check a file',
    description:
      'What is wrong with the file: "error" where a strict loader refuses it, "spec" against the specification, "note" for what looks unusual.',
    arguments: { strict: { type: 'boolean', description: 'Also a note on the file name; default: false' } },
    run: async (file, { strict = false }, signal) => {
      const findings = [
        ...file.lint({ strict: strict === true }),
        ...(await file.lintTemplates({ signal })),
        ...(await file.lintKeys({ signal })),
      ]
      if (findings.some(({ level }) => level === 'error')) return { findings }
      const { lintLoad } = await import('../../engine/index.js')
      return { findings: [...findings, ...(await lintLoad(file, { signal }))] }
    },
  },
  audit: {
    title: 'Audit a file',
    description:
      'Whether the file can be trusted and published: what is wrong with it, what its chat template hides, adds or links to, and where it comes from: license, author, models that it was made from. Reads the header only.',
    arguments: {},
    run: async (file, _, signal) => {
      const { audit } = await import('../../audit/audit.js')
      const [{ findings, provenance, license, baseModels, datasets }] = (await audit(file, { signal }))
        .files as [AuditedFile]
      return { findings, provenance, license, baseModels, datasets }
    },
  },
  search_tokens: {
    title: 'Search the vocabulary',
    description: 'Tokens of the vocabulary that hold a text, with id, type and score.',
    arguments: {
      text: {
        type: 'string',
        description: 'A part of the token; ASCII letters of either case',
        required: true,
      },
      limit: kLimit,
    },
    run: async (file, { text: part, limit = 100 }, signal) => {
      const tokenizer = await file.loadTokenizer({ signal })
      const ids = tokenizer.search({ text: String(part), limit: Number(limit) })
      return {
        tokens: ids.map((id) => {
          const { text: spelled, type, score } = tokenizer.tokens.at(id)!
          return { id, text: spelled, type, score }
        }),
      }
    },
  },
  tokenize: {
    title: 'Tokenize a text',
    description: 'The number of tokens of a text, and their ids, with the piece of each.',
    arguments: {
      text: { type: 'string', description: 'The text', required: true },
      from: kFrom,
      limit: { ...kLimit, description: 'How many ids to give at most; default: 1000' },
    },
    run: async (file, { text: given, from, limit = 1000 }, signal) => {
      const tokenizer = await file.loadTokenizer({ signal })
      const { total, items } = page(tokenizer.encode(String(given), { special: true }), { from, limit })
      return { count: total, tokens: items.map((id) => ({ id, text: tokenizer.tokens.at(id)!.text })) }
    },
  },
  tensor_stats: {
    title: 'Statistics of a tensor',
    description:
      'Minimum, maximum, mean, deviation, zeros, NaN and infinities, outlier columns and a histogram of the values of a tensor. Reads all its data.',
    arguments: { name: { type: 'string', description: 'The whole name of the tensor', required: true } },
    run: async (file, { name }, signal) => {
      const {
        rows: _,
        columns: __,
        histogram,
        outlierColumns,
        ...stats
      } = await file.stats(String(name), {
        signal,
      })
      return {
        ...stats,
        histogram: { ...histogram, counts: [...histogram.counts] },
        outlierColumns: outlierColumns.slice(0, kMaxElements),
      }
    },
  },
}

const kChecks: Readonly<Record<Argument['type'], Check>> = {
  string: text,
  integer: integer(0),
  boolean: flag,
}

const argumentsOf = (tool: Tool): Record<string, Argument> => ({ file: kFile, ...tool.arguments })

export class McpTools {
  readonly #context: Context
  /** Open files. The most recently used one is last. */
  readonly #open = new Map<string, Promise<GgufFile>>()

  #running = 0

  constructor(context: Context) {
    this.#context = context
  }

  has(name: string): boolean {
    return Object.hasOwn(kTools, name)
  }

  list(): unknown[] {
    return Object.entries(kTools).map(([name, tool]) => {
      const all = Object.entries(argumentsOf(tool))
      return {
        name,
        title: tool.title,
        description: tool.description,
        inputSchema: {
          type: 'object',
          properties: Object.fromEntries(
            all.map(([argument, { type, description }]) => [argument, { type, description }]),
          ),
          required: all.filter(([, { required }]) => required).map(([argument]) => argument),
          additionalProperties: false,
        },
        annotations: { readOnlyHint: true, openWorldHint: true },
      }
    })
  }

  async call(name: string, given: unknown, signal: AbortSignal): Promise<unknown> {
    this.#running++
    try {
      const result = await this.#run(kTools[name]!, given, signal)
      const json = JSON.stringify(result, (_, value: unknown) => jsonScalar(value))
      return { content: [{ type: 'text', text: json }], structuredContent: JSON.parse(json) as unknown }
    } catch (error) {
      const code = error instanceof GgufError ? ` [${error.code}]` : ''
      return { content: [{ type: 'text', text: `${messageOf(error)}${code}` }], isError: true }
    } finally {
      this.#running--
    }
  }

  close(): void {
    for (const file of this.#open.values()) void file.then((one) => one.close()).catch(() => {})
    this.#open.clear()
  }

  async #run(tool: Tool, given: unknown, signal: AbortSignal): Promise<unknown> {
    const all = Object.entries(argumentsOf(tool))
    const checks = Object.fromEntries(all.map(([name, { type }]) => [name, kChecks[type]]))
    checkOptions('The tool', given, checks)
    for (const [name, { required }] of all)
      if (required && (given as Given)[name] === undefined)
        throw new GgufError('invalid-argument', `The argument ${name} is missing.`)
    return await tool.run(await this.#file((given as { file: string }).file), given as Given, signal)
  }

  /** Opens a file, or returns it if it is open. A few files stay open. */
  async #file(path: string): Promise<GgufFile> {
    const known = this.#open.get(path)
    this.#open.delete(path)
    const file = known ?? this.#context.open({}, path, [])
    this.#open.set(path, file)
    // A file that another call is reading is not closed.
    const old = this.#running === 1 ? [...this.#open].slice(0, -kMaxOpen) : []
    for (const [name, opened] of old) {
      this.#open.delete(name)
      void opened.then((one) => one.close()).catch(() => {})
    }
    try {
      return await file
    } catch (error) {
      if (this.#open.get(path) === file) this.#open.delete(path)
      throw error
    }
  }
}
