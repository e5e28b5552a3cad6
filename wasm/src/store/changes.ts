// Tells the pages of a site what changed in the store.

/** Of a file that was stored, removed, or stored in part. */
export interface StoreChange {
  readonly url: string
}

const kChannel = 'ggufscope-store-changes'

/** Calls the function when this page or another one changes what is stored of a file. Returns what ends it. */
export function watchChanges(onChange: (change: StoreChange) => void): () => void {
  if (typeof BroadcastChannel !== 'function') return () => {}
  const channel = new BroadcastChannel(kChannel)
  ;(channel as { unref?(): void }).unref?.() // in Node, it keeps no program alive
  channel.onmessage = ({ data }: MessageEvent<StoreChange>) => onChange(data)
  return () => channel.close()
}

/** Tells the others, and this page. */
export function tellChange(url: string): void {
  if (typeof BroadcastChannel !== 'function') return
  const channel = new BroadcastChannel(kChannel)
  channel.postMessage({ url } satisfies StoreChange)
  channel.close()
}
