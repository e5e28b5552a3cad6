// What products with each type's packed weights reach on one thread in Node, relaxed SIMD, against what the machine
// allows in the same module (tests/bench/kernels.cpp): one token with a matrix in the second cache (near) or in memory
// (far), and a prompt of 128 tokens. A token's limit is the lower of the reads and the products of its kind (bytes,
// words of 16 bits, or floats), a prompt's the products.
//   npm run bench:kernels -- [--saturated] Q4_0 Q6_K
// --saturated: as machines compute whose products of bytes saturate, most x86 without AVX-VNNI.
import { machine } from './common/figures.ts'
import { build, runInNode } from './common/program.ts'

interface Row {
  type: string
  what: 'near' | 'far' | 'prompt'
  gmacs: number
  gbytes: number
  /** of a packed weight */
  bits: number
  /** of the limit */
  share: number
}
const rows: Row[] = []
function show(line: string): void {
  const said = JSON.parse(line) as Row | { peaks: Record<string, number> }
  if ('peaks' in said) {
    const { bytes, words, floats, near, far } = said.peaks
    console.log(`products: ${bytes} GMAC/s of bytes, ${words} of words, ${floats} of floats`)
    console.log(`reads: ${near} GB/s near, ${far} GB/s far\n`)
    console.log('| type | bits | near GMAC/s | share | far GMAC/s | GB/s | share | prompt GMAC/s | share |')
    console.log('| --- | --: | --: | --: | --: | --: | --: | --: | --: |')
    return
  }
  rows.push(said)
  if (said.what !== 'prompt') return
  const [near, far, prompt] = rows.splice(0)
  const share = (row: Row) => `${(100 * row.share).toFixed(0)} %`
  console.log(
    `| ${said.type} | ${near!.bits} | ${near!.gmacs} | ${share(near!)} | ${far!.gmacs} | ${far!.gbytes} | ${share(far!)} | ` +
      `${prompt!.gmacs} | ${share(prompt!)} |`,
  )
}

build('kernels')
console.log(machine())
await runInNode('kernels', process.argv.slice(2), show)
