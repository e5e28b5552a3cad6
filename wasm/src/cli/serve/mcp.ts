// The Model Context Protocol on standard input and output: JSON-RPC 2.0, one message on each line. It is implemented
// here because the official SDK depends on about a hundred packages. Tests use the SDK's client with this server.
import { messageOf } from '../../api/errors.js'
import type { Context } from '../command.js'
import { packageVersion } from '../version.js'
import { linesOf } from './lines.js'
import { McpTools } from './mcp-tools.js'

// Protocol versions, newest first.
const kVersions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']

const kInvalidRequest = -32600
const kParseError = -32700
const kMethodNotFound = -32601
const kInvalidParams = -32602
const kInternal = -32603

class ProtocolError extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message)
  }
}

interface Message {
  readonly jsonrpc: '2.0'
  readonly id?: unknown
  readonly method?: unknown
  readonly params?: unknown
}

type Params = Readonly<Record<string, unknown>>

function isMessage(value: unknown): value is Message {
  return typeof value === 'object' && value !== null && 'jsonrpc' in value && value.jsonrpc === '2.0'
}

const isId = (value: unknown): value is string | number =>
  typeof value === 'string' || typeof value === 'number'

/** A message's parameters by name. null means absent. */
function paramsOf(params: unknown): Params {
  if (typeof params !== 'object' || Array.isArray(params))
    throw new ProtocolError(kInvalidParams, 'The params must be an object.')
  return (params ?? {}) as Params
}

/** JSON on one line, for clients that split lines at U+2028 and U+2029, too. */
const lineOf = (message: unknown): string =>
  JSON.stringify(message).replace(/[\u2028\u2029]/g, (one) => `\\u${one.charCodeAt(0).toString(16)}`)

const failure = (id: string | number | null, code: number, message: string): object => ({
  jsonrpc: '2.0',
  id,
  error: { code, message },
})

class McpServer {
  readonly #tools: McpTools
  readonly #send: (message: unknown) => void
  readonly #running = new Map<string | number, AbortController>()

  constructor(tools: McpTools, send: (message: unknown) => void) {
    this.#tools = tools
    this.#send = send
  }

  async line(text: string): Promise<void> {
    if (text.trim() === '') return
    let given: unknown
    try {
      given = JSON.parse(text)
    } catch {
      return this.#send(failure(null, kParseError, 'The line is no JSON.'))
    }
    // The responses to a batch are an array, too. An empty batch is no message.
    const isBatch = Array.isArray(given) && given.length > 0
    const messages: readonly unknown[] = isBatch ? (given as unknown[]) : [given]
    const all = await Promise.all(messages.map((message) => this.#handle(message)))
    const responses = all.filter((response) => response !== undefined)
    if (responses.length === 0) return
    try {
      this.#send(isBatch ? responses : responses[0])
    } catch (error) {
      // Too long for a string.
      const { id } = responses[0] as { id?: unknown }
      this.#send(
        failure(isId(id) ? id : null, kInternal, `The response cannot be sent: ${messageOf(error)}.`),
      )
    }
  }

  /** The response to a message; undefined if it gets none. */
  async #handle(message: unknown): Promise<object | undefined> {
    if (!isMessage(message)) return failure(null, kInvalidRequest, 'This is no message of JSON-RPC 2.0.')
    const { id, method, params = {} } = message
    if (method === undefined && ('result' in message || 'error' in message)) return undefined // the server sends no requests
    if (typeof method !== 'string' || (id !== undefined && !isId(id)))
      return failure(
        isId(id) ? id : null,
        kInvalidRequest,
        'The method is a string, the id a string or a number.',
      )
    if (id === undefined) return this.#notified(method, params)
    const controller = new AbortController()
    this.#running.set(id, controller)
    try {
      const result = await this.#result(method, paramsOf(params), controller.signal)
      return controller.signal.aborted ? undefined : { jsonrpc: '2.0', id, result }
    } catch (error) {
      if (controller.signal.aborted) return undefined
      return failure(id, error instanceof ProtocolError ? error.code : kInternal, messageOf(error))
    } finally {
      if (this.#running.get(id) === controller) this.#running.delete(id)
    }
  }

  /** Notifications get no answer, not even an error. */
  #notified(method: string, params: unknown): undefined {
    const { requestId } = (params ?? {}) as { requestId?: unknown }
    if (method === 'notifications/cancelled' && isId(requestId)) this.#running.get(requestId)?.abort()
  }

  async #result(method: string, params: Params, signal: AbortSignal): Promise<unknown> {
    switch (method) {
      case 'initialize': {
        const wanted = String(params['protocolVersion'])
        return {
          protocolVersion: kVersions.includes(wanted) ? wanted : kVersions[0],
          capabilities: { tools: {} },
          serverInfo: {
            name: 'ggufscope',
            title: 'GGUF files: look into them',
            version: await packageVersion(),
          },
          instructions:
            'Each tool takes a GGUF file by its path, its address, or hf:owner/repository/file.gguf. Only what is asked for is read, by ranges: files of any size will do.',
        }
      }
      case 'ping':
        return {}
      case 'tools/list':
        return { tools: this.#tools.list() }
      case 'tools/call': {
        const { name, arguments: given } = params
        if (typeof name !== 'string' || !this.#tools.has(name))
          throw new ProtocolError(kInvalidParams, `There is no tool ${JSON.stringify(name)}.`)
        return await this.#tools.call(name, given ?? {}, signal)
      }
      default:
        throw new ProtocolError(kMethodNotFound, `There is no method ${JSON.stringify(method)}.`)
    }
  }
}

/** Serves until standard input ends, or a signal comes. */
export async function serveMcp(context: Context): Promise<number> {
  const tools = new McpTools(context)
  const server = new McpServer(tools, (message) => process.stdout.write(`${lineOf(message)}\n`))
  const { stdin } = process
  let left = false
  const end = (): void => {
    left = true
    stdin.destroy()
  }
  context.signal.addEventListener('abort', end, { once: true })
  process.stdout.on('error', end) // the client has disconnected
  const calls = new Set<Promise<void>>()
  try {
    for await (const line of linesOf(stdin as AsyncIterable<Uint8Array>)) {
      const call = server.line(line).finally(() => calls.delete(call))
      calls.add(call)
    }
  } catch (error) {
    if (!left) throw error
  }
  if (!context.signal.aborted) await Promise.all(calls)
  tools.close()
  return 0
}
