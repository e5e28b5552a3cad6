/** "1 row", "2 rows": a count with its noun. written: the count as text. */
export function counted(
  count: number | bigint,
  one: string,
  many = `${one}s`,
  written = String(count),
): string {
  return `${written} ${Number(count) === 1 ? one : many}`
}
