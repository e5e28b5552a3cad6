// What the page, the engine's worker and its threads agree on.

/** What a worker is called that is a thread of the engine. */
export const kThreadName = 'ggufscope-thread'

/** The pool's own limit. */
export const kMaxThreads = 64
