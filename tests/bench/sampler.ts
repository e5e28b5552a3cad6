// Time for sampling one token in Node, as the median of slices (tests/bench/sampler.cpp).
//   npm run bench -- sampler
import { machine } from './common/figures.ts'
import { build, runInNode } from './common/program.ts'

interface Row {
  vocabulary: number
  logits: 'sure' | 'open'
  chain: string
  ms: number
}
const rows: Row[] = []
build('sampler')
await runInNode('sampler', [], (line) => rows.push(JSON.parse(line) as Row))
console.log(machine())
console.log('| sampler, ms a token | 128k, sure | 128k, open | 256k, sure | 256k, open |')
console.log('| --- | --: | --: | --: | --: |')
for (const chain of new Set(rows.map((row) => row.chain))) {
  const of = rows.filter((row) => row.chain === chain).map(({ ms }) => ms.toFixed(2))
  console.log(`| ${chain} | ${of.join(' | ')} |`)
}
