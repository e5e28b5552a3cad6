// How the provider's models wait for a loaded model.

/** Loads a model at the first call. The abort ends the wait, not the loading: others may wait for the same model. */
export type Loader<T> = (signal?: AbortSignal) => Promise<T>
