// Finds the name that was probably meant: for options, commands and keys.

/** The edit distance of two words: insertions, deletions, substitutions, and swaps of neighbours. */
export function distance(a: string, b: string): number {
  let [before, last]: number[][] = [[], Array.from({ length: b.length + 1 }, (_, i) => i)]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      row[j] = Math.min(last![j]! + 1, row[j - 1]! + 1, last![j - 1]! + (same ? 0 : 1))
      if (a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) row[j] = Math.min(row[j]!, before![j - 2]! + 1)
    }
    ;[before, last] = [last!, row]
  }
  return last![b.length]!
}

/** The name that was probably meant: up to a third of its letters may be wrong, or its end may be missing. */
export function nearest(given: string, names: readonly string[]): string | undefined {
  const near = names
    .map((name) => ({ name, away: name.startsWith(given) && given.length > 1 ? 0.5 : distance(given, name) }))
    .filter(({ name, away }) => away <= Math.max(1, Math.floor(Math.max(name.length, given.length) / 3)))
  return near.sort((a, b) => a.away - b.away)[0]?.name
}
