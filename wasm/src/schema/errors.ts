// The reason why a pattern cannot be part of a grammar. The converter adds the place of the pattern in the schema.
export class PatternError extends Error {
  override readonly name = 'PatternError'
}
