// Browsers open no more connections to one HTTP/1.1 server.
const kConnections = 6
// On one connection of HTTP/2 or 3 many requests travel together; more than this gains nothing.
const kMultiplexed = 20

/**
 * How many requests to an address are worth sending at once. The browser tells the protocol of those that ended, of
 * another site only where that one allows it (Timing-Allow-Origin).
 */
export function parallelRequests(address: string): number {
  const entries = globalThis.performance?.getEntriesByName?.(address, 'resource') ?? []
  const protocol = (entries.at(-1) as PerformanceResourceTiming | undefined)?.nextHopProtocol
  return protocol === 'h2' || protocol === 'h3' ? kMultiplexed : kConnections
}
