// A response of server-sent events. Its headers leave early, and comments follow while there is no event, so that
// clients and proxies with a time limit see that the server is alive.
import type { ServerResponse } from 'node:http'
import { failureOf } from './failures.js'
import type { EventAnswer } from './routes.js'

// Milliseconds without an event after which a comment is sent.
const kCommentMs = 1000
// Milliseconds that a request which need not wait has to fail with an HTTP status.
const kGraceMs = 200
// Limit of buffered bytes for a slow client. A response has a few hundred bytes for each token.
const kMaxBuffered = 32 << 20

export class EventStream {
  readonly #response: ServerResponse
  readonly #answer: EventAnswer
  readonly #grace: NodeJS.Timeout
  #comments: NodeJS.Timeout | undefined
  #isQuiet = true

  constructor(response: ServerResponse, answer: EventAnswer) {
    this.#response = response
    this.#answer = answer
    this.#grace = setTimeout(() => this.open(), kGraceMs)
    response.on('close', () => this.#stop())
  }

  /** Sends the headers and a first comment. */
  open(): void {
    clearTimeout(this.#grace)
    const response = this.#response
    if (response.headersSent || response.destroyed) return
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    })
    this.#write(': the request is accepted\n\n')
    this.#comments = setInterval(() => {
      if (this.#isQuiet) this.#write(': the answer is not ready\n\n')
      this.#isQuiet = true
    }, kCommentMs)
  }

  /** Sends all events and ends the response. Before the headers are sent, errors are thrown. */
  async send(): Promise<void> {
    try {
      for await (const event of this.#answer.events) {
        if (this.#response.destroyed) return
        this.#event(event)
      }
      this.open()
      this.#end()
    } catch (error) {
      this.fail(error)
    } finally {
      this.#stop()
    }
  }

  /** Ends the response with an error as its last event. Throws the error if the HTTP status can report it. */
  fail(error: unknown): void {
    this.#stop()
    if (!this.#response.headersSent || this.#response.destroyed) throw error
    this.#event(this.#answer.failed(failureOf(error)))
    this.#end()
  }

  #end(): void {
    const { last } = this.#answer
    if (last !== undefined) this.#write(`data: ${last}\n\n`)
    this.#response.end()
  }

  #event(event: unknown): void {
    this.open()
    this.#isQuiet = false
    const name = this.#answer.named ? `event: ${(event as { type: string }).type}\n` : ''
    this.#write(`${name}data: ${JSON.stringify(event)}\n\n`)
  }

  /** Disconnects a client that reads too slowly, so that its response does not fill the memory. */
  #write(text: string): void {
    const response = this.#response
    if (response.destroyed) return
    response.write(text)
    if (response.writableLength > kMaxBuffered) response.destroy(new Error('the client reads too slowly'))
  }

  #stop(): void {
    clearTimeout(this.#grace)
    clearInterval(this.#comments)
  }
}
