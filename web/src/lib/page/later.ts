// Work that is done in a task of its own, so that the page reacts and is painted between the parts of it.
const queue = new Set<() => void>()

function next() {
  const [first] = queue
  if (!first) return
  queue.delete(first)
  if (queue.size > 0) setTimeout(next)
  first()
}

/** Runs `work` in a later task, after earlier work. Returns a function that cancels it. */
export function later(work: () => void): () => void {
  queue.add(work)
  if (queue.size === 1) setTimeout(next)
  return () => queue.delete(work)
}

/** Resolves in a later task. */
export const nextTask = () => new Promise<void>(later)
