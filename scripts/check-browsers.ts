// Checks that the built package and viewer call nothing that Safari 17 lacks, except after a test whether it exists. The
// viewer needs Safari 17.5, because its CSS uses light-dark(). No test runs in Safari 17: WebKitGTK is as new as Safari 26.
// The `lib` of tsconfig.json keeps newer methods of objects out of our own code, and wasm/safari.d.ts the iteration of streams.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')

interface Feature {
  name: string
  /** The first version of Safari that has it; undefined: none, or one of this year. */
  safari?: number
  /** How compiled code uses it. */
  use: RegExp
  /** How the same file tests whether it exists. */
  test?: RegExp
}

// Source: MDN's browser-compat-data (https://github.com/mdn/browser-compat-data).
const kFeatures: Feature[] = [
  { name: 'a `using` declaration', use: /Symbol\.dispose is not defined/ },
  { name: 'Promise.withResolvers', safari: 17.4, use: /\bPromise\.withResolvers\b/ },
  { name: 'Promise.try', safari: 18.2, use: /\bPromise\.try\b/ },
  { name: 'groupBy', safari: 17.4, use: /\b(?:Object|Map)\.groupBy\b/ },
  { name: 'ArrayBuffer.transfer', safari: 17.4, use: /\bbuffer\.transfer\(|\.transferToFixedLength\(/ },
  { name: 'Iterator.from', safari: 18.4, use: /\bIterator\.(?:from|concat)\b/ },
  { name: 'RegExp.escape', safari: 18.2, use: /\bRegExp\.escape\b/ },
  { name: 'a modifier in a regular expression', safari: 26, use: /\/[^/\n]*\(\?[ims]*-?[ims]+:[^/\n]*\// },
  {
    name: 'Base64 or hex of Uint8Array',
    safari: 18.2,
    use: /\bUint8Array\.from(?:Base64|Hex)\b|\.(?:setFrom|to)(?:Base64|Hex)\(/,
  },
  { name: 'Float16Array', safari: 18.2, use: /\bFloat16Array\b|\bMath\.f16round\b|\.[gs]etFloat16\(/ },
  { name: 'Map.getOrInsert', safari: 26.2, use: /(?<!\bsuper)\.getOrInsert(?:Computed)?\(/ },
  { name: 'Error.isError', use: /\bError\.isError\b/ },
  { name: 'Math.sumPrecise', safari: 26.2, use: /\bMath\.sumPrecise\b/ },
  { name: 'JSON.rawJSON', safari: 18.4, use: /\bJSON\.(?:isR|r)awJSON\b/ },
  { name: 'Atomics.pause', safari: 18.4, use: /\bAtomics\.pause\b/ },
  { name: 'JSPI', use: /\bWebAssembly\.(?:Suspending|promising)\b/ },
  { name: 'AbortSignal.any', safari: 17.4, use: /\bAbortSignal\.any\b/ },
  { name: 'ReadableStream.from', use: /\bReadableStream\.from\b/ },
  { name: 'URL.parse', safari: 18, use: /\bURL\.parse\(/ },
  { name: 'checkVisibility', safari: 17.4, use: /\.checkVisibility\(/ },
  { name: 'setHTML', use: /\.setHTML\(/ },
  { name: 'moveBefore', use: /\.moveBefore\(/ },
  { name: 'startViewTransition', safari: 18, use: /\.startViewTransition\(/ },
  { name: 'scheduler', use: /\bscheduler\.(?:yield|postTask)\(/ },
  {
    name: 'requestIdleCallback',
    use: /\brequestIdleCallback\b/,
    test: /\brequestIdleCallback\s*(?:\?\?|\|\|)/,
  },
  {
    name: 'a file picker',
    use: /\bshow(?:Save|Open|Directory)(?:File)?Picker\??\.?\(/,
    test: /\bshowSaveFilePicker\s*(?:&&|\?\.)/,
  },
  { name: 'getAsFileSystemHandle', use: /\bgetAsFileSystemHandle\b/ },
  {
    name: 'createWritable',
    safari: 26,
    use: /\.createWritable\(/,
    test: /typeof \w+\.createWritable\b|\bshowSaveFilePicker\s*&&/,
  },
  { name: 'WebGPU', safari: 26, use: /\bnavigator\.gpu\b/, test: /\bnavigator\.gpu\s*(?:\?\.|===?)/ },
  {
    name: 'WebCodecs for audio and images',
    safari: 26,
    use: /\bnew (?:AudioDecoder|AudioEncoder|ImageDecoder)\b/,
  },
]

/** The scripts of a folder that run in browsers. */
function scripts(folder: string, isLeftOut: (name: string) => boolean): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.js') && !isLeftOut(name))
    .map((name) => join(folder, name))
}

const errors: string[] = []
function check(safari: number, paths: readonly string[]): void {
  for (const path of paths) {
    const text = readFileSync(join(root, path), 'utf8')
    for (const { name, safari: since = Infinity, use, test } of kFeatures) {
      if (since <= safari || test?.test(text)) continue
      const found = use.exec(text)
      if (!found) continue
      const around = text.slice(Math.max(0, found.index - 30), found.index + found[0].length + 30)
      errors.push(`${path} uses ${name}, which Safari ${safari} lacks: ${around.replaceAll('\n', ' ')}`)
    }
  }
}

// The command line runs in Node. VitePress made the documentation's scripts.
const ours = scripts('wasm/dist', (name) => /^(?:cli\b|node\.js|element\b)/.test(name))
// The custom element is made of the viewer's sources.
const element = scripts('wasm/dist', (name) => !name.startsWith('element'))
const viewer = scripts('web/dist', (name) => name.startsWith('docs'))
check(17, ours)
check(17.5, [...viewer, ...element])

for (const error of errors) console.error(error)
if (errors.length > 0) process.exit(1)
console.log(
  `browsers: ${ours.length + viewer.length + element.length} scripts call nothing that Safari 17 lacks`,
)
