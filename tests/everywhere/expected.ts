// The expected results of tests/everywhere/app.js, and the sample model for it.
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { packedRoot } from '../package/packed.ts'

export type Seen = Readonly<Record<string, string>>

export const kSteps = [
  'open',
  'dequantize',
  'tokenizer',
  'renderChat',
  'engine, 1 thread',
  'engine, all threads',
] as const

export const kModel = join(import.meta.dirname, '../fixtures/stories.gguf')
export const modelBytes = (): Uint8Array<ArrayBuffer> => Uint8Array.from(readFileSync(kModel))

/** Differences from the expected results; empty if there are none. threads: the number for "all". */
export function faultsOf(seen: Seen, expected: Seen, threads: number): string[] {
  return kSteps.flatMap((step) => {
    const many = expected[step]?.replace(/^\d+ threads?/, threads === 1 ? '1 thread' : `${threads} threads`)
    const wanted = step === 'engine, all threads' ? many : expected[step]
    return seen[step] === wanted ? [] : [`${step}: ${seen[step]} (expected ${wanted})`]
  })
}

/** The program's results in this Node with two threads, which every environment must reproduce. */
export async function expectedSeen(): Promise<Seen> {
  const work = mkdtempSync(join(packedRoot(), 'expected-'))
  try {
    // A separate package, because inside this repository the name would resolve to the checkout.
    writeFileSync(join(work, 'package.json'), '{ "type": "module" }')
    copyFileSync(join(import.meta.dirname, 'app.js'), join(work, 'app.js'))
    const { everything } = (await import(pathToFileURL(join(work, 'app.js')).href)) as {
      everything(source: Uint8Array, options: object, threads: number): Promise<Seen>
    }
    const seen = await everything(modelBytes(), {}, 2)
    const failed = kSteps.filter((step) => seen[step]?.startsWith('failed') ?? true)
    if (failed.length > 0)
      throw new Error(`Node itself fails: ${failed.map((step) => `${step}: ${seen[step]}`)}`)
    return seen
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** A page without a bundler. It runs app.js beside it and imports the package from the address `base`. */
export function importMapPage(base = '/package'): string {
  const imports = {
    ggufscope: `${base}/wasm/dist/index.js`,
    'ggufscope/engine': `${base}/wasm/dist/engine/index.js`,
  }
  return `<!doctype html><link rel="icon" href="data:,"><script type="importmap">${JSON.stringify({ imports })}</script>
<script type="module">import { everything } from './app.js'; globalThis.everything = everything</script>`
}
