// The GitHub Action and the pre-commit hooks, in a stand-in of the runner: a repository, an event, and files for the
// outputs and the summary. A small server takes the comments.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { writeGguf, type Model } from '../fixtures/gguf.ts'
import { floatBytes, text } from '../fixtures/models.ts'
import { kRoot, packedFile } from './packed.ts'

const skip = spawnSync('git', ['--version']).status === 0 ? false : 'git is not there'
const kAction = join(kRoot, '.github/actions/audit')
const kCommand = `${process.execPath} ${packedFile('wasm/dist/cli.js')}`
const folder = mkdtempSync(join(tmpdir(), 'action-'))
after(() => rmSync(folder, { recursive: true }))
const repository = join(folder, 'repository')
const git = (...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], {
    cwd: repository,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim()

const model = (seed: number, template: string): Model => ({
  metadata: [
    ['general.architecture', text('tiny-unknown')],
    ['general.license', text(seed === 1 ? 'mit' : 'apache-2.0')],
    ['tokenizer.chat_template', text(template)],
  ],
  tensors: [
    { name: 'x.weight', shape: [64], type: 'F32', data: floatBytes(64, seed) },
    { name: 'same.weight', shape: [64], type: 'F32', data: floatBytes(64, 9) },
  ],
})
const kTemplate = '{% for m in messages %}{{ m.content }}{% endfor %}'
const write = (name: string, content: Uint8Array | string) => writeFileSync(join(repository, name), content)
let base = ''
let head = ''
if (!skip) {
  execFileSync('git', ['init', '-q', '-b', 'main', repository])
  write('model one.gguf', writeGguf(model(1, kTemplate)))
  write('kept.gguf', writeGguf(model(1, kTemplate)))
  write('gone.gguf', writeGguf(model(1, kTemplate)))
  git('add', '-A')
  git('commit', '-qm', 'first')
  base = git('rev-parse', 'HEAD')
  write('model one.gguf', writeGguf(model(2, `${kTemplate}{{ x.__class__ }}`)))
  write('new.GGUF', writeGguf(model(3, kTemplate)))
  write('lfs.gguf', 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n')
  write('notes.txt', 'x')
  rmSync(join(repository, 'gone.gguf'))
  git('add', '-A')
  git('commit', '-qm', 'second')
  head = git('rev-parse', 'HEAD')
}

/** What action.yml gives to its one step: the command, and each variable with the default of its input. */
const yaml = readFileSync(join(kAction, 'action.yml'), 'utf8')
const defaults = Object.fromEntries(
  [...yaml.matchAll(/^ {2}([a-z-]+):\n {4}description: .*\n {4}default: '?([^'\n]*)'?$/gm)].map(
    ([, name, value]) => [name!, value!],
  ),
)
const variables = [...yaml.matchAll(/^ {8}(INPUT_\w+): \$\{\{ inputs\.([a-z-]+) \}\}$/gm)]
const command = /^ {6}run: (.*)$/m.exec(yaml)![1]!

interface Step {
  readonly status: number
  readonly log: string
  readonly outputs: Readonly<Record<string, string>>
  readonly summary: string
}

let runs = 0
async function runStep(
  event: object,
  inputs: Readonly<Record<string, string>> = {},
  api = 'http://127.0.0.1:1',
): Promise<Step> {
  const own = join(folder, String(runs++))
  const file = (name: string) => `${own}-${name}`
  for (const name of ['output', 'summary']) writeFileSync(file(name), '')
  writeFileSync(file('event'), JSON.stringify(event))
  const values: Record<string, string> = { ...defaults, token: 'secret-token', command: kCommand, ...inputs }
  const child = execFile('bash', ['-e', '-o', 'pipefail', '-c', command], {
    cwd: repository,
    env: {
      PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH']}`,
      HOME: folder,
      GITHUB_ACTION_PATH: kAction,
      GITHUB_EVENT_PATH: file('event'),
      GITHUB_OUTPUT: file('output'),
      GITHUB_STEP_SUMMARY: file('summary'),
      GITHUB_REPOSITORY: 'bees/honey',
      GITHUB_API_URL: api,
      RUNNER_TEMP: folder,
      ...Object.fromEntries(variables.map(([, variable, input]) => [variable!, values[input!]!])),
    },
  })
  let log = ''
  for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (piece) => (log += String(piece)))
  const [status] = (await once(child, 'close')) as [number]
  const outputs = readFileSync(file('output'), 'utf8').trim().split('\n')
  return {
    status,
    log,
    summary: readFileSync(file('summary'), 'utf8'),
    outputs: Object.fromEntries(outputs.map((line) => line.split(/=(.*)/s).slice(0, 2))) as Record<
      string,
      string
    >,
  }
}

interface Comment {
  id: number
  body: string
}

/** A server with the comments of an issue. */
async function withComments(use: (url: string, comments: Comment[], seen: string[]) => Promise<void>) {
  const comments: Comment[] = [{ id: 1, body: 'Nice!' }]
  const seen: string[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (piece) => (body += String(piece)))
    request.on('end', () => {
      seen.push(`${request.method} ${request.url} ${request.headers.authorization}`)
      const given = body && (JSON.parse(body) as { body: string })
      const id = Number(/comments\/(\d+)/.exec(request.url!)?.[1])
      if (request.method === 'POST' && given) comments.push({ id: 7, body: given.body })
      if (request.method === 'PATCH' && given) comments.find((one) => one.id === id)!.body = given.body
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(request.method === 'GET' ? comments : {}))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, comments, seen)
  } finally {
    server.close()
  }
}

const pull = () => ({ pull_request: { number: 5, base: { sha: base }, head: { sha: head } } })

test('a pull request: changed files are audited, compared, and commented once', { skip }, async () => {
  await withComments(async (url, comments, seen) => {
    const step = await runStep(pull(), {}, url)
    assert.equal(step.status, 1, step.log)
    assert.match(step.log, /::warning::lfs\.gguf is a pointer of Git LFS/)
    const { error } = JSON.parse(step.outputs['findings']!) as { error: number }
    assert.ok(error >= 1)
    const sarif = JSON.parse(readFileSync(step.outputs['sarif']!, 'utf8')) as {
      runs: [{ artifacts: { location: { uri: string } }[] }]
    }
    assert.deepEqual(
      sarif.runs[0].artifacts.map(({ location }) => location.uri),
      ['model%20one.gguf', 'new.GGUF'],
    )
    assert.match(readFileSync(step.outputs['cyclonedx']!, 'utf8'), /"bomFormat": "CycloneDX"/)
    for (const text of [step.summary, comments[1]!.body, readFileSync(step.outputs['report']!, 'utf8')]) {
      assert.match(text, /template-escape/)
      assert.match(text, /## Changes of model_one\.gguf\n\n2 keys and 1 tensor of 2 differ/)
      assert.match(text, /\| general\.license \| changed \| .*mit.* \| .*apache-2\.0.* \|/)
      assert.match(text, /\| x\.weight \| F32 64 \| F32 64 \| differ \|/)
      assert.doesNotMatch(text, /kept\.gguf|secret-token|Changes of new/)
    }
    assert.ok(comments[1]!.body.startsWith('<!-- ggufscope audit -->'))
    assert.equal(seen.at(-1), 'POST /repos/bees/honey/issues/5/comments Bearer secret-token')
    await runStep(pull(), {}, url)
    assert.equal(seen.at(-1), 'PATCH /repos/bees/honey/issues/comments/7 Bearer secret-token')
    assert.equal(comments.length, 2)
  })
})

test('a push, named files, other levels, and no comment', { skip }, async () => {
  const pushed = await runStep({ before: base, after: head }, { 'fail-on': 'never', hash: 'xxh64 uuid' })
  assert.equal(pushed.status, 0, pushed.log)
  assert.match(pushed.summary, /\| tensor data of model one\.gguf \| uuid \|/)
  const named = await runStep(pull(), { files: 'kept.gguf\n', comment: 'false' })
  assert.equal(named.status, 0, named.log)
  assert.match(named.summary, /## kept\.gguf/)
  assert.match(named.summary, /## Changes of kept\.gguf\n\nNo differences/)
  const nothing = await runStep({ before: head })
  assert.deepEqual([nothing.status, nothing.outputs['findings']], [0, '{"error":0,"warning":0,"note":0}'])
  // The first push of a branch, an unknown commit, and a comment that fails.
  assert.match((await runStep({ before: '0'.repeat(40) })).summary, /in 3 files/)
  assert.match((await runStep({ before: '1'.repeat(40) })).log, /::warning::The commit 1+ is not there/)
  assert.match((await runStep(pull())).log, /::warning::The comment was not written/)
})

test('the pre-commit hooks call commands that exist, with the files of the commit', { skip }, async () => {
  const hooks = readFileSync(join(kRoot, '.pre-commit-hooks.yaml'), 'utf8')
  const entries = [...hooks.matchAll(/^ {2}entry: npx --yes ggufscope (.*)$/gm)].map(([, words]) => words!)
  assert.deepEqual(entries, ['audit', 'lint'])
  assert.equal(hooks.match(/^ {2}files: \\\.gguf\$$/gm)?.length, entries.length)
  for (const entry of entries) {
    const call = spawnSync(
      process.execPath,
      [packedFile('wasm/dist/cli.js'), entry, 'kept.gguf', 'lfs.gguf'],
      {
        cwd: repository,
        encoding: 'utf8',
      },
    )
    assert.equal(call.status, 1, call.stderr)
    assert.match(call.stdout + call.stderr, /kept\.gguf[^]*lfs-pointer/)
  }
})
