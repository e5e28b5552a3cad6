// A library that is loaded when it is first used. What reads `value` runs again when the library is there.
export class OnDemand<T> {
  private loaded = $state.raw<T>()
  private loading: Promise<unknown> | undefined

  constructor(private readonly load: () => Promise<T>) {}

  /** Whether it is there, without loading it. */
  get isLoaded(): boolean {
    return this.loaded !== undefined
  }

  /** undefined while it is loaded. Loading that failed, e.g. without a network, is tried again by the next reader. */
  get value(): T | undefined {
    this.loading ??= this.load().then(
      (library) => (this.loaded = library),
      () => (this.loading = undefined),
    )
    return this.loaded
  }
}
