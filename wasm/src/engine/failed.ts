/** What goes wrong in the engine's worker; a GgufError once it has reached the page. */
export class Failed extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly offset = 0,
  ) {
    super(message)
  }
}
