// Arguments of the command line: several files, options by name, standard input, completion; and its progress and
// output.
import assert from 'node:assert/strict'
import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { after, test, type TestContext } from 'node:test'
import { writeGguf } from '../fixtures/gguf.ts'
import { smallModel, text } from '../fixtures/models.ts'
import { kAll } from '../fixtures/short.ts'
import { startServer } from '../server/server.ts'
import { kRoot, packedFile } from './packed.ts'
import { runCli } from './run-cli.ts'

const folder = mkdtempSync(join(tmpdir(), 'cli-arguments-'))
after(() => rmSync(folder, { recursive: true }))
const kCli = packedFile('wasm/dist/cli.js')

const run = (args: readonly string[], input?: Uint8Array | string, env?: Record<string, string>) =>
  runCli(args, { cwd: folder, input, env })
const errorIn = (err: string) => (JSON.parse(err) as { error: { code: string; message: string } }).error

writeFileSync(
  join(folder, 'good.gguf'),
  writeGguf({
    metadata: [
      ['general.architecture', text('llama')],
      ['general.type', text('vocab')],
    ],
  }),
)
const small = writeGguf(smallModel())
writeFileSync(join(folder, 'small.gguf'), small)
writeFileSync(join(folder, 'cut.gguf'), small.subarray(0, 100))
const { kCommands } = (await import(pathToFileURL(packedFile('wasm/dist/cli/commands.js')).href)) as {
  kCommands: { name: string; load(): Promise<{ command: { options?: object; standardInput?: boolean } }> }[]
}
const kStories = 'stories.gguf'
copyFileSync(join(kRoot, 'tests/fixtures/stories.gguf'), join(folder, kStories))

test('several files give one result each and the worst status', async () => {
  const files = ['good.gguf', 'cut.gguf', 'none.gguf']
  for (const name of ['lint', 'info', 'tensors']) {
    const { status, out, err } = await run([name, ...files])
    assert.equal(status, 1, name)
    for (const file of files) assert.ok(out.includes(`${file}:`), `${name}: ${out}`)
    assert.match(err, /truncated[^]*no-such-file/, name)
    const json = await run([name, ...files, '--json'])
    assert.deepEqual([json.status, json.err], [1, ''])
    const all = JSON.parse(json.out) as { file: string; status: number; error?: { code: string } }[]
    assert.deepEqual(
      all.map(({ file, status, error }) => [file, status, error?.code]),
      [
        ['good.gguf', 0, undefined],
        ['cut.gguf', 1, 'truncated'],
        ['none.gguf', 1, 'no-such-file'],
      ],
    )
  }
  assert.equal((await run(['lint', 'good.gguf', 'small.gguf'])).status, 1)
  assert.equal((await run(['lint', 'good.gguf', 'good.gguf'])).status, 0)
  assert.match((await run(['lint', '--help'])).out, /array of \{"file", "status", "result"\}/)
})

test('a file without a command runs info', async () => {
  assert.equal((await run(['small.gguf'])).out, (await run(['info', 'small.gguf'])).out)
  assert.equal((await run(['small.gguf', '--json'])).out, (await run(['info', 'small.gguf', '--json'])).out)
})

test('unused arguments are refused, and the nearest name is suggested', async () => {
  const wrong: [message: RegExp, ...args: string[]][] = [
    [/--strcit: did you mean --strict\?/, 'lint', 'good.gguf', '--strcit'],
    [/--thread: did you mean --threads\?/, 'run', 'x.gguf', '--thread', '2'],
    [/--max-token: did you mean --max-tokens\?/, 'run', 'x.gguf', '--max-token=2'],
    [/info has no option --data: lint has it/, 'info', 'good.gguf', '--data'],
    [/did you mean quantize\?/, 'quantise', 'good.gguf'],
    [/does not use "extra"/, 'completion', 'bash', 'extra'],
    [/does not use "extra"/, 'dequantize', 'good.gguf', 'x', 'extra'],
    [/does not use "extra"/, 'quantize', 'good.gguf', 'Q8_0', 'extra', '-o', 'x.gguf'],
    [
      /does not use "Q8_0": the file to write is an option, --output x\.gguf/,
      'quantize',
      'good.gguf',
      'x.gguf',
      'Q8_0',
    ],
    [/--full needs --json/, 'info', 'good.gguf', '--full'],
    [/--force needs --output/, 'dequantize', 'good.gguf', 'x', '--force'],
    [/--compare and --count: one of them/, 'tokenize', 'good.gguf', '--compare', '--count'],
    [/no use for a text/, 'tokenize', 'good.gguf', 'text', '--compare'],
    [/--endian is for gguf/, 'convert', 'small.gguf', 'x', '-o', 'x.npy', '--endian', 'big'],
    [/--precision is fast, compact or exact/, 'run', 'x.gguf', '--precision', 'best'],
    [/--top-k takes a number, not "many"/, 'run', 'x.gguf', '--top-k', 'many'],
    [/--output takes a value/, 'merge', 'good.gguf', '--output', '--force'],
    [/--output was given twice/, 'merge', 'good.gguf', '-o', 'a', '-o', 'b'],
    [/--json takes no value/, 'info', 'good.gguf', '--json=1'],
    [/--logit-bias "x" is not of the form/, 'run', 'x.gguf', '--logit-bias', 'x'],
    [/options come after/, '--json', 'info', 'good.gguf'],
    [/the shell is bash, zsh or fish/, 'completion', 'csh'],
    [/--draft-tokens needs --draft/, 'run', 'x.gguf', '--draft-tokens', '4'],
    [/--allow-fallback-adapter needs --device/, 'run', 'x.gguf', '--allow-fallback-adapter'],
    [/"8G:0" has no speed/, 'memory', 'good.gguf', '--gpu', '8G:0'],
    [/--max-body takes a size above 0/, 'serve', 'good.gguf', '--max-body', '0'],
  ]
  await Promise.all(
    wrong.map(async ([message, ...args], i) => {
      const { status, err } = await run(args)
      assert.match(err, message, args.join(' '))
      assert.equal(status, 2, args.join(' '))
      assert.doesNotMatch(err, /[^.]\.\.(?!\.)|\n\s+at /)
      if (args.some((word) => word.startsWith('--json') || word === '--full')) return
      if (!kAll && i % 5 > 0) return
      const json = await run([...args, '--json'])
      assert.equal(json.status, 2)
      assert.equal(errorIn(json.err).code, 'usage')
      assert.equal(json.out, '')
    }),
  )
})

test('with --json errors are JSON on stderr', async () => {
  for (const [code, status, ...args] of [
    ['no-such-file', 1, 'info', 'none.gguf'],
    ['truncated', 1, 'tensors', 'cut.gguf'],
    ['not-found', 1, 'dequantize', 'small.gguf', 'none'],
    ['not-found', 1, 'set', 'small.gguf', '--remove', 'none', '-o', 'x.gguf'],
    ['unsupported', 1, 'tokenize', 'small.gguf', 'text'],
    ['out-of-range', 1, 'tokenize', kStories, '--decode', '1 999999'],
    ['usage', 2, 'merge', 'small.gguf'],
    ['unsupported', 1, 'info', 'ftp://a.test/x.gguf'],
    ['unsupported', 1, 'info', 's3://bucket/x.gguf'],
    ['unsupported', 1, 'run', kStories, 'a', '--draft', 'ollama:a:1b'],
  ] as const) {
    const result = await run([...args, '--json'])
    assert.equal(result.status, status, result.err)
    assert.equal(errorIn(result.err).code, code)
    assert.doesNotMatch(errorIn(result.err).message, /[^.]\.\.(?!\.)/)
  }
})

test('commands that need only a stream read standard input', async () => {
  const stories = readFileSync(join(folder, kStories))
  const named = async (...args: string[]) => (await run(args)).out
  assert.equal((await run(['tensors', '-'], small)).out, await named('tensors', 'small.gguf'))
  assert.match((await run(['info', '-'], small)).out, /^architecture +llama$/m)
  assert.match((await run(['-'], small)).out, /^architecture +llama$/m)
  const codes = async (file: string): Promise<string[]> => {
    const { out } = await run(['lint', file, '--json'], small)
    return (JSON.parse(out) as { code: string }[]).map(({ code }) => code)
  }
  assert.deepEqual(await codes('-'), await codes('small.gguf'))
  assert.equal(
    (await run(['tokenize', '-', 'Once upon a time'], stories)).out,
    await named('tokenize', kStories, 'Once upon a time'),
  )
  // Missing data is found although the size is unknown beforehand.
  const short = await run(['lint', '-', '--json'], stories.subarray(0, stories.length - 5000))
  assert.equal(short.status, 1)
  assert.match(short.out, /"level": "error"/)
  for (const [message, ...args] of [
    [/give its path/, 'merge', '-', '-o', 'x.gguf'],
    [/give its path/, 'dequantize', '-', 'x'],
    [/reads parts of the file/, 'lint', '-', '--data'],
    [/give the text as an argument/, 'tokenize', '-'],
  ] as const) {
    const { status, err } = await run(args, small)
    assert.equal(status, 2, err)
    assert.match(err, message)
  }
})

/** The completion script for a shell. Skips the test with a message and returns undefined if the shell is missing. */
async function completionFor(shell: string, context: TestContext): Promise<string | undefined> {
  const { status, out } = await run(['completion', shell])
  assert.equal(status, 0)
  assert.ok(out.includes('ggufscope') && out.includes('max-tensors') && out.includes('quantize'))
  if (spawnSync(shell, ['-c', 'true']).status === 0) return out
  context.skip(`${shell} is not there`)
  return undefined
}

test('completion in bash', async (context) => {
  const script = await completionFor('bash', context)
  if (script === undefined) return
  writeFileSync(join(folder, 'completion.bash'), script)
  const complete = (...words: string[]): string[] => {
    const code = `set -u; source ./completion.bash
      COMP_WORDS=(ggufscope "$@"); COMP_CWORD=$#; _ggufscope; printf '%s\\n' "\${COMPREPLY[@]}"`
    return execFileSync('bash', ['-c', code, 'bash', ...words], { cwd: folder, encoding: 'utf8' })
      .split('\n')
      .filter((line) => line !== '')
  }
  assert.deepEqual(complete('qu'), ['quantize'])
  assert.ok(complete('').includes('completion') && complete('').includes('small.gguf'))
  assert.deepEqual(complete('lint', '--st'), ['--strict'])
  assert.deepEqual(complete('run', 'x.gguf', '--precision', ''), ['fast', 'compact', 'exact'])
  assert.deepEqual(complete('quantize', 'x.gguf', 'Q8_0', '-o', 'sma'), ['small.gguf'])
  assert.deepEqual(complete('completion', ''), ['bash', 'zsh', 'fish'])
  // All commands and options of the table.
  for (const { name, load } of kCommands) {
    const options = Object.keys((await load()).command.options ?? {})
    const offered = complete(name, '--')
    for (const option of [...options, 'json', 'header', 'help'])
      assert.ok(offered.includes(`--${option}`), `${name} --${option}`)
  }
})

for (const [shell, check] of [
  ['zsh', ['-n']],
  ['fish', ['--no-execute']],
] as const) {
  test(`completion in ${shell}`, async (context) => {
    const script = await completionFor(shell, context)
    if (script === undefined) return
    const path = join(folder, `completion.${shell}`)
    writeFileSync(path, script)
    execFileSync(shell, [...check, path])
  })
}

test('progress is shown only on a terminal', async (context) => {
  if (spawnSync('script', ['--version']).status !== 0) return context.skip('script(1) is not there')
  const slow = await startServer({ bandwidth: 1.2e6 })
  try {
    slow.mount('/', folder)
    const address = `${slow.url}/${kStories}`
    for (const [shown, args] of [
      [/loading weights: \d+ % of/, ['run', address, 'Once', '--max-tokens', '2', '--temperature', '0']],
      [/checking tensor data: \d+ % of/, ['lint', address, '--data']],
      [/\d+ of \d+, \S+: \d+ % of/, ['stats', address]],
      [/\d+ % /, ['convert', address, '--endian', 'big', '-o', 'big.gguf', '--force']],
    ] as const) {
      const line = [process.execPath, kCli, ...args].map((word) => `'${word}'`).join(' ')
      const out = await new Promise<string>((done) =>
        execFile('script', ['-qec', line, '/dev/null'], { cwd: folder }, (_, text) => done(text)),
      )
      assert.match(out, shown, args[0])
    }
    const plain = await run(['lint', `${slow.url}/${kStories}`, '--data'])
    assert.deepEqual([plain.status, plain.err], [0, ''])
    assert.doesNotMatch(plain.out, /[\r\x1b]/)
  } finally {
    await slow.close()
  }
})

test('the help of serve names what the guide names', async () => {
  const guide = readFileSync(join(kRoot, 'web/docs/guides/server.md'), 'utf8')
  const help = (await run(['serve', '--help'])).out.replace(/\s+/g, ' ')
  const rows = [...guide.matchAll(/^\| `(?:GET|POST) (\S+)`/gm)].map(([, path]) => path!)
  assert.ok(rows.length > 10)
  for (const path of rows) assert.ok(help.includes(path), path)
})

test('the guide names the commands that read a model from standard input', async () => {
  const guide = readFileSync(join(kRoot, 'web/docs/guides/command-line.md'), 'utf8')
  const line = guide.split('\n').find((text) => text.includes('read a model from standard input'))!
  for (const { name, load } of kCommands)
    assert.equal(line.includes(`\`${name}\``), (await load()).command.standardInput === true, name)
})

test('run takes the options of the engine', async () => {
  // What follows is certain, also with other roundings.
  const call = ['run', kStories, 'Long ago, in a garden full of', '--temperature', '0', '--max-tokens', '4']
  const plain = JSON.parse((await run([...call, '--json'])).out) as { text: string }
  const options = ['--threads', '1', '--variant', 'simd', '--precision', 'exact', '--cache-type', 'f32']
  options.push(
    '--context',
    '64',
    '--memory-limit',
    '1G',
    '--lookup',
    '4',
    '--cache-type-v',
    'f32',
    '--keep',
    '8',
  )
  // A program that prints a text ends it with a newline.
  const words = ['Once upon a time', '--max-tokens', '4', '--temperature', '0', '--json']
  const piped = await run(['run', kStories, ...words.slice(1)], `${words[0]}\n`)
  assert.equal(JSON.parse(piped.out).text, JSON.parse((await run(['run', kStories, ...words])).out).text)
  options.push('--draft', kStories, '--draft-tokens', '2', '--on-overflow', 'cut-middle')
  const same = await run([...call, ...options])
  assert.equal(same.status, 0, same.err)
  assert.ok(same.out.includes(plain.text), same.out)
  assert.match(same.out, /, simd$/m)
  const { pieces } = JSON.parse((await run([...call, '--logprobs', '2', '--json'])).out) as {
    pieces: { logprob: number; alternatives: unknown[] }[]
  }
  assert.ok(pieces.length >= 4 && pieces[0]!.alternatives.length === 2)
  for (const [status, message, ...wrong] of [
    [2, /: --threads must be/, '--threads', '0'],
    [2, /: --context must be a whole number/, '--context', '0'],
    [2, /: --draft-tokens must be/, '--draft', kStories, '--draft-tokens', '-1'],
    [2, /: --min-p must be a number from 0 to 1, not 2\./, '--min-p', '2'],
    [2, /: --dry-allowed-length must be/, '--dry-allowed-length', '1.5'],
    [2, /: --on-overflow is about messages: give --chat/, '--on-overflow', 'drop-turns'],
    [1, /needs .* can be had/, '--memory-limit', '10K'],
    [1, /without a projector \(--mmproj FILE\)/, '--image', kStories],
    [1, /: A logit bias names the token 99999/, '--logit-bias', '99999=1'],
    [0, /: --context 99999 is beyond the \d+ tokens/, '--context', '99999'],
  ] as const) {
    const ended = await run([...call, ...wrong])
    assert.equal(ended.status, status, ended.err)
    assert.match(ended.err, message)
  }
})

test('tables, findings and help fit the terminal; programs get whole names', async () => {
  const columns = (text: string): number => Math.max(...text.split('\n').map((line) => [...line].length))
  const calls = [['tensors', kStories], ['lint', 'small.gguf'], ['run', '--help'], ['--help']]
  for (const call of calls)
    assert.ok(columns((await run(call, '', { COLUMNS: '60' })).out) <= 60, call.join(' '))
  assert.ok(columns((await run(['info', kStories], '', { COLUMNS: '40' })).out) <= 40)
  const profile = ['run', kStories, 'Once', '--max-tokens', '2', '--threads', '1', '--profile']
  for (const width of [100, 60, 40]) {
    const { out } = await run(profile, '', { COLUMNS: String(width) })
    const [, table = ''] = /(\nPasses [^]*)$/.exec(out) ?? []
    assert.ok(table.includes('GMAC/s') && columns(table) <= width, table)
  }
  const whole = (await run(calls[0]!)).out
  assert.ok(columns(whole) > 60 && !whole.includes('\u2026'))
})

test('characters that show nothing or turn the text around are written as escapes', async () => {
  const hidden = ['\u202e', '\u200b', '\u2066', '\u061c', '\u00ad', '\u{e0041}']
  const family = '\u{1f469}\u200d\u{1f467}'
  writeFileSync(
    join(folder, 'hidden.gguf'),
    writeGguf({
      metadata: [
        ['general.architecture', text('llama')],
        ['general.name', text(`a${hidden.join('')}b ${family}`)],
        [`own.${hidden.join('')}`, text('x')],
      ],
      tensors: [{ name: `w${hidden.join('')}`, shape: [1], type: 'F32', data: new Uint8Array(4) }],
    }),
  )
  for (const call of ['info', 'tensors', 'lint', 'audit', 'memory', 'stats', 'hash']) {
    const { out, err } = await run([call, 'hidden.gguf'], '', { COLUMNS: '200' })
    for (const character of hidden)
      assert.ok(!(out + err).includes(character), `${call}: U+${character.codePointAt(0)!.toString(16)}`)
  }
  assert.ok((await run(['info', 'hidden.gguf'], '', { COLUMNS: '200' })).out.includes(`b ${family}`))
})

test('info fits 80 columns, or those of the terminal', async () => {
  for (const file of [kStories, 'small.gguf'])
    for (const [columns, env] of [
      [80, {}],
      [60, { COLUMNS: '60' }],
      [140, { COLUMNS: '140' }],
    ] as const) {
      const lines = (await run(['info', file], '', env)).out.split('\n')
      for (const line of lines) assert.ok([...line].length <= columns, `${columns}: ${line}`)
    }
  // Of a terminal that is narrower than any text, the terminal wraps the lines.
  const [least, less] = await Promise.all(
    ['40', '12'].map((columns) => run(['info', kStories], '', { COLUMNS: columns })),
  )
  assert.equal(less!.out, least!.out)
})

test('shortened names stay distinct, and counts have the right number', async () => {
  const middle = 'x'.repeat(120)
  const names = [`a.${middle}.weight`, `a.${middle.slice(1)}y.weight`, `a.${middle}.bias`, 'short']
  const tensors = names.map((name) => ({ name, shape: [2], type: 'F32', data: new Uint8Array(8) }))
  writeFileSync(join(folder, 'names.gguf'), writeGguf({ tensors }))
  for (const command of ['stats', 'tensors']) {
    const lines = (await run([command, 'names.gguf'])).out.split('\n').slice(1, 1 + names.length)
    assert.equal(new Set(lines.map((line) => line.split(' ')[0])).size, names.length, lines.join('\n'))
  }
  writeFileSync(join(folder, 'one.gguf'), writeGguf({ metadata: [['Upper', text('x')]] }))
  assert.match((await run(['lint', 'one.gguf'])).out, /^\d+ errors?, \d+ other findings?$/m)
  assert.doesNotMatch((await run(['lint', 'one.gguf'])).out, /\b1 (errors|other findings)|\b0 error,/)
})

test('--header is sent to the origin of the first address; the error of a 401 mentions it', async () => {
  const seen: (string | undefined)[] = []
  const secret = createServer((request, response) => {
    const token = request.headers['x-token'] as string | undefined
    seen.push(token)
    if (token !== 'secret') response.writeHead(401).end()
    else response.writeHead(200, { 'content-length': small.length }).end(small)
  })
  await new Promise<void>((done) => secret.listen(0, '127.0.0.1', done))
  const { port } = secret.address() as AddressInfo
  const [first, other] = [`http://127.0.0.1:${port}/a.gguf`, `http://localhost:${port}/a.gguf`]
  try {
    const { status, err } = await run(['info', first])
    assert.equal(status, 1)
    assert.match(err, /--header "Authorization: Bearer TOKEN"/)
    assert.equal((await run(['info', first, '--header', 'X-Token: secret'])).status, 0)
    seen.length = 0
    assert.equal((await run(['info', first, other, '--header', 'X-Token: secret'])).status, 1)
    assert.deepEqual(seen, ['secret', undefined])
  } finally {
    secret.close()
  }
})
