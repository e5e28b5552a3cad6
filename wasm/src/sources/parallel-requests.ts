// Browsers open at most this many connections to one HTTP/1.1 server.
const kConnections = 6
// HTTP/2 and 3 multiplex requests over one connection. More parallel requests than this are not faster.
const kMultiplexed = 20

/**
 * The useful number of parallel requests to an address. The browser reports the protocol of finished requests; for
 * another origin only with Timing-Allow-Origin.
 */
export function parallelRequests(address: string): number {
  const entries = globalThis.performance?.getEntriesByName?.(address, 'resource') ?? []
  const protocol = (entries.at(-1) as PerformanceResourceTiming | undefined)?.nextHopProtocol
  return protocol === 'h2' || protocol === 'h3' ? kMultiplexed : kConnections
}
