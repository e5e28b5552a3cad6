// Versions of Node, and the test runners and TypeScript runners that use it.
import type { Environment } from './environments.ts'

export const kProgram = `import { everything } from './app.js'
import { open } from 'ggufscope/node'
import { readFileSync } from 'node:fs'
;(await open(process.argv[2])).close()
const seen = await everything(new Uint8Array(readFileSync(process.argv[2])), {}, 2)
console.log('SEEN ' + JSON.stringify(seen))
process.exit(0)
`
/** A CommonJS program that loads the package with `load`: require or import. */
const commonProgram = (load: string): string => `const { readFileSync } = require('node:fs')
async function main() {
  const { everything } = await ${load}('./app.js')
  const { open } = await ${load}('ggufscope/node')
  ;(await open(process.argv[2])).close()
  const seen = await everything(new Uint8Array(readFileSync(process.argv[2])), {}, 2)
  console.log('SEEN ' + JSON.stringify(seen))
  process.exit(0)
}
void main()
`
const kTypedProgram = `import { readFileSync } from 'node:fs'
import { open, type GgufFile } from 'ggufscope/node'
import { everything } from './app.js'
const path: string = process.env['MODEL']!
const file: GgufFile = await open(path)
file.close()
const seen = await everything(new Uint8Array(readFileSync(path)), {}, 2)
console.log('SEEN ' + JSON.stringify(seen))
process.exit(0)
`
const kTest = `import { everything } from './app.js'
import { readFileSync } from 'node:fs'
test('everything', async () => {
  const seen = await everything(new Uint8Array(readFileSync(process.env.MODEL)), {}, 2)
  console.log('SEEN ' + JSON.stringify(seen))
}, 120_000)
`
const kTyped = {
  'tsconfig.json': JSON.stringify({
    compilerOptions: {
      module: 'nodenext',
      target: 'es2022',
      lib: ['es2022', 'dom', 'dom.iterable', 'esnext.disposable'],
      strict: true,
      allowJs: true,
      outDir: 'out',
      types: ['node'],
    },
  }),
  'run.ts': kTypedProgram,
}

const modules = (version: string): Environment => ({
  name: `Node ${version}, ES modules`,
  packages: [`node@${version}`],
  files: { 'run.mjs': kProgram },
  run: (context) => context.program(['./node_modules/node/bin/node', 'run.mjs']),
})
const common = (version: string, load: 'require' | 'import' = 'require'): Environment => ({
  name: `Node ${version}, CommonJS`,
  ...(load === 'import' ? { setting: '`await import()`' } : {}),
  packages: [`node@${version}`],
  files: { 'run.cjs': commonProgram(load) },
  run: (context) => context.program(['./node_modules/node/bin/node', 'run.cjs']),
})

/** A row whose program is started by another one. shell: the command as people type it. */
const started = (
  name: string,
  packages: readonly string[],
  files: Readonly<Record<string, string>>,
  shell: string,
): Environment => ({
  name,
  setting: `\`${shell}\``,
  packages,
  files,
  // The model's path becomes $0, so that the command does not get it.
  run: (context) => context.program(['sh', '-c', shell]),
})

export const kNode: readonly Environment[] = [
  modules('20.16.0'),
  common('20.16.0', 'import'),
  common('20.19.0'),
  modules('20'),
  common('20'),
  common('22.12.0'),
  ...['22', '24', '26'].flatMap((version) => [modules(version), common(version)]),
  started(
    'node --test',
    ['node@24'],
    { 'all.test.js': `import { test } from 'node:test'\n${kTest}` },
    'node --test',
  ),
  started('Vitest', ['vitest@5'], { 'all.test.js': `import { test } from 'vitest'\n${kTest}` }, 'vitest run'),
  started('Jest', ['jest@30'], { 'all.test.js': kTest }, 'NODE_OPTIONS=--experimental-vm-modules jest'),
  ...['5.4', '6', '7'].map((version) =>
    started(
      `TypeScript ${version}`,
      [`typescript@${version}`, '@types/node@20'],
      kTyped,
      'tsc && node out/run.js',
    ),
  ),
  started('Node 24, TypeScript', ['node@24'], kTyped, 'node run.ts'),
  started('tsx', ['tsx@4'], kTyped, 'tsx run.ts'),
  started(
    'ts-node',
    ['ts-node@10', 'typescript@5', '@types/node@24'],
    kTyped,
    'node --loader ts-node/esm run.ts',
  ),
]
