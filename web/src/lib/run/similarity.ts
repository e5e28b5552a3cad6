// How alike texts are, by their vectors.

export type Comparison = { readonly texts: readonly string[] } & (
  | {
      /** cosine similarities, a row for each text */
      readonly similarity: readonly (readonly number[])[]
    }
  | {
      /** how well each text after the first answers the first */
      readonly scores: readonly number[]
    }
)

/** The cosine of each two vectors of length 1. */
export const similarities = (vectors: readonly Float32Array[]): number[][] =>
  vectors.map((a) => vectors.map((b) => a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0)))
