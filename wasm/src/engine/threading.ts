// A constant that the page and the engine's worker share.

/** The pool's limit. */
export const kMaxThreads = 64
