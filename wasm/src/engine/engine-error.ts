/** An error in the engine's worker. The page converts it to a GgufError. */
export class EngineError extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly offset = 0,
  ) {
    super(message)
  }
}

/** The message of an engine that wasm or a worker has ended. */
export const crashMessage = (reason: string): string =>
  `The engine crashed (${reason.replace(/\.+$/, '')}). Its model is closed: load it again.`

/** Why a model leaves its graphics card after an error. Only its engine there is closed if that crashed. */
export function reasonToMove({ message }: Error): string {
  const crash = /^The engine crashed \((.*)\)\. Its model is closed/s.exec(message)
  return crash ? `The engine on the graphics card crashed: ${crash[1]}.` : message
}

/** What a call rejects with. An error without a code is one of wasm, if its module runs: out of memory, or a bug. */
export function failureOf(error: unknown, runs: boolean): EngineError {
  const { code, offset = 0 } = error as Partial<EngineError>
  const message = error instanceof Error ? error.message : String(error)
  if (typeof code === 'string') return new EngineError(code, message, offset)
  return runs ? new EngineError('crashed', crashMessage(message)) : new EngineError('wasm', message)
}
