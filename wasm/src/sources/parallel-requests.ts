// Browsers open no more connections to one HTTP/1.1 server.
const kConnections = 6
// HTTP/2 and 3 send many requests over one connection; more than this gains nothing.
const kMultiplexed = 20

/**
 * How many parallel requests to an address are useful. The browser gives the protocol of finished requests;
 * for another origin only if that allows it (Timing-Allow-Origin).
 */
export function parallelRequests(address: string): number {
  const entries = globalThis.performance?.getEntriesByName?.(address, 'resource') ?? []
  const protocol = (entries.at(-1) as PerformanceResourceTiming | undefined)?.nextHopProtocol
  return protocol === 'h2' || protocol === 'h3' ? kMultiplexed : kConnections
}
