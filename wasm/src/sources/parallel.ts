/**
 * Runs tasks in the order of the list, a few at a time. After all started tasks have ended, throws the first failure.
 */
export async function eachInParallel<T>(
  items: readonly T[],
  limit: number,
  task: (item: T) => Promise<void>,
): Promise<void> {
  const rest = items.values()
  const failures: unknown[] = []
  const worker = async () => {
    for (const item of rest) {
      if (failures.length > 0) return
      await task(item).catch((error: unknown) => failures.push(error))
    }
  }
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker))
  if (failures.length > 0) throw failures[0]
}
