// Rates of matrix products with each type's packed weights on one thread in Node with relaxed SIMD, compared with the
// machine's limits in the same module (tests/bench/kernels.cpp): decode of one token with a matrix in the L2 cache
// ("l2") or in DRAM ("dram"), and prefill of 128 tokens. The limit of decode is the lower of memory bandwidth and the
// peak rate of its dot products (int8, int16 or float). The limit of prefill is that peak rate.
//   npm run bench:kernels -- [--saturated] Q4_0 Q6_K
// --saturated: uses the kernels of CPUs whose int8 dot products saturate (most x86 without AVX-VNNI).
//   npm run bench:kernels -- --model FILE [--threads 2]
// --model: profiles each operation of a model in Node: prompts of 128 tokens, and 64 tokens after each.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import type { Peaks, ProfiledOperation, Variant } from 'ggufscope/engine'
import type { load as Load } from 'ggufscope/node'
import { promptOf } from '../fixtures/synthetic.ts'
import { machine } from './common/figures.ts'
import { build, runInNode } from './common/program.ts'

type ProfileLines = (
  operations: readonly ProfiledOperation[],
  peaks: Peaks,
  variant: Variant,
  style: Record<'bold' | 'dim', (text: string) => string>,
) => string[]

interface Row {
  type: string
  what: 'l2' | 'dram' | 'prefill'
  gmacs: number
  gbytes: number
  /** bits per packed weight */
  bits: number
  /** fraction of the limit */
  share: number
}
const rows: Row[] = []
function show(line: string): void {
  const said = JSON.parse(line) as Row | { peaks: Record<string, number> }
  if ('peaks' in said) {
    const { int8, int16, float32, l2, dram } = said.peaks
    console.log(`dot products: ${int8} GMAC/s of int8, ${int16} of int16, ${float32} of float32`)
    console.log(`reads: ${l2} GB/s from L2, ${dram} GB/s from DRAM\n`)
    console.log('| type | bits | L2 GMAC/s | share | DRAM GMAC/s | GB/s | share | prefill GMAC/s | share |')
    console.log('| --- | --: | --: | --: | --: | --: | --: | --: | --: |')
    return
  }
  rows.push(said)
  if (said.what !== 'prefill') return
  const [l2, dram, prefill] = rows.splice(0)
  const share = (row: Row) => `${(100 * row.share).toFixed(0)} %`
  console.log(
    `| ${said.type} | ${l2!.bits} | ${l2!.gmacs} | ${share(l2!)} | ${dram!.gmacs} | ${dram!.gbytes} | ${share(dram!)} | ` +
      `${prefill!.gmacs} | ${share(prefill!)} |`,
  )
}

async function showOperations(path: string, threads: number | undefined): Promise<void> {
  const dist = (name: string) => pathToFileURL(join(import.meta.dirname, '../../wasm/dist', name)).href
  const { load } = (await import(dist('node.js'))) as { load: typeof Load }
  const { profileLines } = (await import(dist('cli/profile.js'))) as { profileLines: ProfileLines }
  // By its path: Node's openAsBlob knows sizes of 32 bits.
  using model = await load(path, { threads, contextLength: 256 })
  for (let run = 0; run < 4; run++) {
    const prompt = promptOf(run, 128, model.info.vocabularySize)
    for await (const _ of model.generate(prompt, { maxTokens: 64, temperature: 0, ignoreEnd: true })) continue
    if (run === 0) await model.profile() // discards the first run, in which V8 compiles
  }
  const plain = (text: string) => text
  const style = { bold: plain, dim: plain }
  const lines = profileLines(await model.profile(), await model.peaks(), model.info.variant, style)
  console.log([`${model.info.threads} threads, ${model.info.variant}`, ...lines].join('\n'))
}

const { values, positionals } = parseArgs({
  options: { model: { type: 'string' }, threads: { type: 'string' }, saturated: { type: 'boolean' } },
  allowPositionals: true,
})
console.log(machine())
if (values.model === undefined) {
  build('kernels')
  await runInNode('kernels', [...(values.saturated ? ['--saturated'] : []), ...positionals], show)
} else {
  await showOperations(values.model, values.threads === undefined ? undefined : Number(values.threads))
}
