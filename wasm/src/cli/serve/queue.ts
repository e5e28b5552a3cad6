// The requests of one model, which wait for each other.
/** The queue is full. */
export class QueueFull extends Error {
  constructor(readonly waiting: number) {
    super(`The server is busy: ${waiting} requests wait. Try again later.`)
  }
}

/** Runs one task at a time. At most `limit` tasks may wait. */
export class Queue {
  readonly #limit: number
  readonly #waiting: (() => void)[] = []
  #running = false
  #emptied: (() => void)[] = []

  constructor(limit: number) {
    this.#limit = limit
  }

  get size(): number {
    return this.#waiting.length + (this.#running ? 1 : 0)
  }

  /** Whether the next task would run at once. Error: QueueFull if it could not even wait. */
  checkRoom(): boolean {
    if (this.#running && this.#waiting.length >= this.#limit) throw new QueueFull(this.#waiting.length)
    return !this.#running
  }

  /** Runs a task after the earlier ones. An aborted signal removes a waiting task. Error: QueueFull. */
  async run<T>(signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    signal.throwIfAborted()
    if (!this.checkRoom()) await this.#turn(signal)
    this.#running = true
    try {
      return await task()
    } finally {
      this.#running = false
      const next = this.#waiting.shift()
      if (next) {
        this.#running = true // set before the next task can start
        next()
      } else for (const told of this.#emptied.splice(0)) told()
    }
  }

  /** Resolves when no task runs or waits. */
  async empty(): Promise<void> {
    if (this.size > 0) await new Promise<void>((resolve) => this.#emptied.push(resolve))
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const go = (): void => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const leave = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(go), 1)
        reject(signal.reason as Error)
      }
      signal.addEventListener('abort', leave, { once: true })
      this.#waiting.push(go)
    })
  }
}
