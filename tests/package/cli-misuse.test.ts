// Every option of every command with a value that it cannot have: status 2, before a file is opened. The messages name the
// command line's options, not the package's functions.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { after, test } from 'node:test'
import { writeGguf } from '../fixtures/gguf.ts'
import { smallModel } from '../fixtures/models.ts'
import { saidByPackage } from './package-sentences.ts'
import { kRoot, packedFile } from './packed.ts'
import { runCli } from './run-cli.ts'

interface Option {
  readonly value?: string
  readonly file?: 'read' | 'written'
  readonly choices?: readonly string[]
  readonly needs?: string
}
interface Command {
  readonly options?: Readonly<Record<string, Option>>
  readonly arguments: readonly { readonly choices?: readonly string[] }[]
}
const imported = async <Module>(path: string): Promise<Module> =>
  (await import(pathToFileURL(packedFile(`wasm/dist/cli/${path}`)).href)) as Module
const { kCommands } = await imported<{
  kCommands: { name: string; load(): Promise<{ command: Command }> }[]
}>('commands.js')
const { main } = await imported<{ main(args: readonly string[]): Promise<number> }>('main.js')
const { inCliWords } = await imported<{ inCliWords(message: string): string }>('failure.js')

const folder = mkdtempSync(join(tmpdir(), 'cli-misuse-'))
after(() => rmSync(folder, { recursive: true }))
const kModel = join(folder, 'small.gguf')
writeFileSync(kModel, writeGguf(smallModel()))
/** Files that are not there: a call that opens one before it looks at its options ends with status 1. */
const kNone = join(folder, 'none.gguf')

/** The arguments of a call. */
const kArguments: Readonly<Record<string, readonly string[]>> = {
  tokenize: [kNone, 'a'],
  dequantize: [kModel, smallModel().tensors![0]!.name],
  stats: [kModel],
  compare: [kNone, kNone],
  diff: [kNone, kNone],
  set: [kModel, 'general.name=x'],
  quantize: [kModel, 'Q8_0'],
  'merge-lora': [kNone, kNone],
  run: [kNone, 'a'],
  decide: [kNone, 'a', '--question', 'a'],
  trace: [kNone, 'a'],
  speak: [kNone, 'a', '--output', join(folder, 'out.wav')],
  transcribe: [kNone, '--model', kNone],
  memory: [kModel],
  completion: ['bash'],
  search: ['a'],
  files: ['a/b'],
}
/** What an option must have beside it. */
const kBeside: Readonly<Record<string, readonly string[]>> = {
  draft: ['--draft', kNone],
  'control-vector': ['--control-vector', kNone],
  json: ['--json'],
  'add-token': ['--add-token', 'a'],
}
/** Texts and names, of which every one is possible, or that only the file or the machine can refuse. */
const kFree = new Set([
  'FILE',
  'TEXT',
  'KEY',
  'COMMAND',
  'HOST',
  'MESSAGE',
  'BRANCH',
  'NAME[=TEXT]',
  ...['alias', 'template', 'voice', 'language', 'remove-tensor'].map((name) => `--${name}`),
])
const kBad: Readonly<Record<string, readonly string[]>> = {
  N: ['many', '-5.5', '1e99'],
  S: ['many', ''],
  R: ['many'],
  P: ['many', '-3'],
  T: ['many', '-1'],
  X: ['many', '-1'],
  SIZE: ['huge', '-1', '1X'],
  'SIZE[:SPEED]': ['huge', '8G:fast'],
  TYPE: ['Q9'],
  'A:B': ['x', ':', '5:2', '3:3'],
  '"A: b"': ['no colon'],
  ORIGIN: ['example.com', 'https://example.com/'],
  'NAME=TYPE': ['x', 'x=Q9'],
  'ID=NUMBER': ['x'],
  'KEY=PATH': ['x'],
  'OLD=NEW': ['x'],
  'FIRST-LAST': ['x'],
  PARTS: ['x'],
  HEADS: ['x', '1'],
  LAYERS: ['x'],
}

/** Calls the command line in this process. */
async function call(args: readonly string[]): Promise<{ status: number; err: string }> {
  const { error } = console
  let err = ''
  console.error = (text: unknown) => void (err += `${String(text)}\n`)
  try {
    return { status: await main(args), err }
  } finally {
    console.error = error
  }
}

const kFunction = /\b[a-z]\w*\(\)/
const kCamel = /\b[a-z]+[A-Z]\w*/

test('a bad value of any option is a wrong call', async () => {
  let calls = 0
  const wrong: string[] = []
  for (const { name, load } of kCommands) {
    const { options = {}, arguments: words } = (await load()).command
    const given = kArguments[name] ?? words.map(() => kNone)
    for (const [option, row] of Object.entries({ ...options, header: { value: '"A: b"' } as Option })) {
      const { value, choices, needs, file } = row
      if (value === undefined || (file !== undefined && value !== 'KEY=PATH')) continue
      if (choices === undefined && (kFree.has(value) || kFree.has(`--${option}`))) continue
      const values = choices ? ['none of them'] : kBad[value]
      assert.ok(values, `${name} --${option} ${value}: this test needs a bad value of it`)
      const output = 'output' in options && !given.includes('--output') ? ['-o', join(folder, 'out')] : []
      for (const bad of values) {
        const args = [name, ...given, `--${option}=${bad}`, ...(kBeside[needs ?? ''] ?? []), ...output]
        const { status, err } = await call(args)
        calls++
        const isNamed = err.includes(`--${option}`) || err.includes(bad)
        if (status !== 2 || !isNamed || kFunction.test(err) || kCamel.test(err))
          wrong.push(`${name} --${option}=${bad}: ${status} ${err}`)
      }
    }
  }
  assert.deepEqual(wrong, [])
  assert.ok(calls > 200, String(calls))
})

/** Messages that only programs can get: the command line never makes these calls. */
const kForPrograms = [
  /^(?:phonemize|toNpy|quantize|open|createSpeech)\(\) /,
  /^(?:sampleRate must|Audio must be a Float32Array)/,
  /^There is no memory for/,
  /^--grammar-triggers /,
  /The engine that the tabs share/,
  /The engine's worker \{\} could not be started/,
  /^A repository is a text/,
  /use createRerank\(\)|Use embed\(\) with another pooling/,
  /^The known formats are not loaded/,
  /^The vocabulary of a file from before GGUF/,
]

test('messages of the package name no function and no option of programs on the command line', () => {
  const wrong = [...saidByPackage(['wasm/src'])]
    .map(inCliWords)
    .filter((text) => kFunction.test(text) || kCamel.test(text))
    .filter((text) => !kForPrograms.some((pattern) => pattern.test(text)))
  assert.deepEqual(wrong, [])
})

test('help names no function of the package', async () => {
  const { log } = console
  let out = ''
  console.log = (text: unknown) => void (out += `${String(text)}\n`)
  try {
    for (const { name } of kCommands) assert.equal(await main([name, '--help']), 0)
  } finally {
    console.log = log
  }
  assert.equal(kFunction.exec(out)?.[0], undefined)
  // What transcribe takes has an effect there.
  const { options } = (await kCommands.find(({ name }) => name === 'transcribe')!.load()).command
  for (const name of ['lora', 'draft', 'control-vector', 'sparse-attention', 'context'])
    assert.ok(!Object.hasOwn(options!, name), name)
})

test('the entry without files names the one with them', async () => {
  const { open } = (await import(
    pathToFileURL(packedFile('wasm/dist/index.js')).href
  )) as typeof import('ggufscope')
  for (const path of ['small.gguf', './a/small.gguf', kModel, 'C:\\small.gguf', pathToFileURL(kModel).href])
    await assert.rejects(open(path), { name: 'GgufError', message: /open from "ggufscope\/node"/ }, path)
})

// What breaks is a function that the command needs, and a callback that nobody waits for.
for (const [what, code] of [
  ['a command', 'Number.prototype.toFixed = () => { throw new TypeError("out of order") }'],
  [
    'a callback',
    'process.on("newListener", (name) => name === "uncaughtException" && setImmediate(() => { throw new TypeError("out of order") }))',
  ],
] as const)
  test(`a bug in ${what} prints its message and a code, not the code of the program`, async () => {
    const env = { NODE_OPTIONS: `--import "data:text/javascript,${encodeURIComponent(code)}"` }
    const ran = await runCli(['info', join(kRoot, 'tests/fixtures/stories.gguf')], { env })
    assert.equal(ran.status, 1)
    assert.match(ran.err, /^ggufscope: out of order \[internal\]\n {4}at [^\n]*\n/)
    assert.ok(Math.max(...ran.err.split('\n').map((line) => line.length)) < 400)
  })

test('a bug is none of the files: neither the next one is read, nor is it a finding', async () => {
  const code =
    'Map.prototype.get = new Proxy(Map.prototype.get, { apply(get, map, [key]) { if (key === "general.architecture") throw new TypeError("out of order"); return Reflect.apply(get, map, [key]) } })'
  const env = { NODE_OPTIONS: `--import "data:text/javascript,${encodeURIComponent(code)}"` }
  const file = join(kRoot, 'tests/fixtures/stories.gguf')
  for (const [command, out] of [
    ['info', `${file}:\n`],
    ['audit', ''],
  ] as const) {
    const ran = await runCli([command, file, file], { env })
    assert.equal(ran.status, 1)
    assert.equal(ran.out, out, command)
    assert.equal(ran.err.split('[internal]').length, 2, ran.err)
  }
})
