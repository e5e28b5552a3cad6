// Constants that the page, the engine's worker and its threads share.

/** The name of a worker that is a thread of the engine. */
export const kThreadName = 'ggufscope-thread'

/** The pool's limit. */
export const kMaxThreads = 64
