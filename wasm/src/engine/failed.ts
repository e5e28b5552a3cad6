/** An error in the engine's worker. The page converts it to a GgufError. */
export class Failed extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly offset = 0,
  ) {
    super(message)
  }
}
