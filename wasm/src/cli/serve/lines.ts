// Splits a stream of bytes into lines. Only LF ends a line: node:readline also splits at U+2028, which JSON texts may
// contain.

const kLineFeed = 10

/** Yields the lines as text, without LF, CR LF and a byte order mark. The last line may lack its LF. */
export async function* linesOf(stream: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, void> {
  const decoder = new TextDecoder() // removes a byte order mark
  const textOf = (parts: readonly Uint8Array[]): string =>
    decoder.decode(Buffer.concat(parts)).replace(/\r$/, '')
  let parts: Uint8Array[] = []
  for await (const bytes of stream) {
    let begin = 0
    for (let end = bytes.indexOf(kLineFeed); end >= 0; end = bytes.indexOf(kLineFeed, begin)) {
      yield textOf([...parts, bytes.subarray(begin, end)])
      parts = []
      begin = end + 1
    }
    if (begin < bytes.length) parts.push(bytes.subarray(begin))
  }
  if (parts.length > 0) yield textOf(parts)
}
