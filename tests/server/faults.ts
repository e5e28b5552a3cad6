// Faults of a server as data. Each fault is one field, read from the query of a request ("/x.gguf?status=503&times=2")
// or passed to server.plan(path, faults).

export interface Faults {
  /** Number of requests of this path without the fault at first (default 0). */
  after?: number
  /** Number of requests with the fault after that (default: all). */
  times?: number
  /** Probability of the fault for each of those requests, with the server's random seed (default 1). */
  probability?: number

  /** Milliseconds before the first byte, instead of the server's delay. */
  delay?: number
  /** 'off': ignores Range and answers with status 200. 'refused': answers each range with status 416. */
  ranges?: 'off' | 'refused'
  /** Maximum bytes for one range (206 with a shorter Content-Range, as RFC 9110 allows). */
  shorten?: number
  /** 'off': no Content-Length (chunked). */
  length?: 'off'
  /** Header of a 206. 'off': absent; 'start': one byte too late; 'total': twice the size; 'star': unknown total. */
  contentRange?: 'off' | 'start' | 'total' | 'star'
  /** 'relative', 'absolute' (another origin of this server), 'loop', or an address. */
  redirect?: string
  redirectStatus?: number
  /** 'gzip': the whole body is compressed, without ranges. */
  encoding?: 'gzip'
  /** The connection is destroyed after this many body bytes; -1: before the header. */
  cut?: number
  /** Nothing is sent after this many body bytes, and the connection stays open; -1: before the header. */
  stall?: number
  status?: number
  /** Retry-After header for that status: seconds, or a date. */
  retryAfter?: string
  /** A sign-in page instead of the file, with status 200. */
  html?: boolean
  /** 'off': neither ETag nor Last-Modified; 'date': only the latter; 'weak': W/"..."; 'each': another ETag each time. */
  etag?: 'off' | 'date' | 'weak' | 'each'
  /** Serves the content of this path instead, with its own ETag, as if the file was replaced. */
  replace?: string
  /** 'off': no CORS headers; 'simple': allowed, but no header is exposed and preflights fail. */
  cors?: 'off' | 'simple'
}

const kNumbers = new Set([
  'after',
  'times',
  'probability',
  'delay',
  'shorten',
  'redirectStatus',
  'cut',
  'stall',
  'status',
])
const kStrings = new Set([
  'ranges',
  'length',
  'contentRange',
  'redirect',
  'encoding',
  'retryAfter',
  'etag',
  'replace',
  'cors',
])

/** Parses the faults of a query; undefined if there are none. Other parameters are ignored. */
export function parseFaults(query: URLSearchParams): Faults | undefined {
  const faults: Record<string, string | number | boolean> = {}
  for (const [name, value] of query) {
    if (kNumbers.has(name)) faults[name] = Number(value)
    else if (kStrings.has(name)) faults[name] = value
    else if (name === 'html') faults['html'] = value !== '0'
  }
  return Object.keys(faults).length > 0 ? (faults as Faults) : undefined
}

/** The faults of request number `index` (from 0) of a path. Later plans override earlier ones. */
export function strike(plans: readonly Faults[], index: number, random: () => number): Faults {
  const struck: Faults = {}
  for (const plan of plans) {
    const { after = 0, times = Infinity, probability = 1, ...faults } = plan
    if (index < after || index >= after + times) continue
    if (probability < 1 && random() >= probability) continue
    Object.assign(struck, faults)
  }
  return struck
}

/** Seeded pseudorandom numbers in [0, 1) (mulberry32). */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}
