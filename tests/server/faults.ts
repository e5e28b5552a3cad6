// What can go wrong on a server, as data: each fault is one field, read from the query of a request
// ("/x.gguf?status=503&times=2") or given to server.plan(path, faults).

export interface Faults {
  /** Requests of this path that pass before the fault begins (default 0). */
  after?: number
  /** Requests that it strikes, from then on (default: all). */
  times?: number
  /** Strikes this share of those requests, at random from the server's seed (default 1). */
  probability?: number

  /** Milliseconds before the first byte, instead of the server's. */
  delay?: number
  /** 'off': Range is ignored, everything is 200. 'refused': each range is answered 416. */
  ranges?: 'off' | 'refused'
  /** At most so many bytes for one range (206 with a shorter Content-Range, as RFC 9110 allows). */
  shorten?: number
  /** 'off': no Content-Length (chunked). */
  length?: 'off'
  /** Of a 206. 'off': absent; 'start': begins one byte later than asked; 'total': total of twice the size; 'star': total unknown. */
  contentRange?: 'off' | 'start' | 'total' | 'star'
  /** 'relative', 'absolute' (another origin of this server), 'loop', or an address. */
  redirect?: string
  redirectStatus?: number
  /** 'gzip': the whole body compressed, no ranges. */
  encoding?: 'gzip'
  /** The connection is destroyed after so many body bytes; -1: before the header. */
  cut?: number
  /** Nothing is sent any more after so many body bytes, the connection stays open; -1: before the header. */
  stall?: number
  status?: number
  /** Of that status: seconds, or a date. */
  retryAfter?: string
  /** A sign-in page instead of the file, with status 200. */
  html?: boolean
  /** 'off': neither ETag nor Last-Modified; 'weak': W/"..."; 'each': another ETag each time. */
  etag?: 'off' | 'weak' | 'each'
  /** The content of this path instead, with its own ETag: a file that was replaced. */
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

/** Faults of a query; undefined if it names none. Other parameters are none of ours. */
export function parseFaults(query: URLSearchParams): Faults | undefined {
  const faults: Record<string, string | number | boolean> = {}
  for (const [name, value] of query) {
    if (kNumbers.has(name)) faults[name] = Number(value)
    else if (kStrings.has(name)) faults[name] = value
    else if (name === 'html') faults['html'] = value !== '0'
  }
  return Object.keys(faults).length > 0 ? (faults as Faults) : undefined
}

/** The faults that strike request number `index` (from 0) of a path, later plans over earlier ones. */
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

/** Seeded numbers in [0, 1) (mulberry32). */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}
