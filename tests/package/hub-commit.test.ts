// `set hf:... --commit`: the change of a header becomes a commit by the client @huggingface/hub, on a stand-in hub.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, beforeEach, test } from 'node:test'
import { writeGguf } from '../fixtures/gguf.ts'
import { floatBytes, text } from '../fixtures/models.ts'
import { startCommitHub } from '../server/commits.ts'
import type { HubClient } from 'ggufscope/edit'
import { loadNodePackage } from './packed.ts'
import { runCli } from './run-cli.ts'

const { commitToHub, hubFileOf, open } = await loadNodePackage()
const kToken = 'hf_secretsecretsecret'
const kPath = 'folder/small model.gguf'
const kFile = 'hf:bees/honey/folder/small model.gguf'
const original = writeGguf({
  metadata: [
    ['general.architecture', text('llama')],
    ['general.name', text('old')],
  ],
  tensors: ['x', 'y', 'z'].map((name, i) => ({
    name: `${name}.weight`,
    shape: [64, 64],
    type: 'F32',
    data: floatBytes(64 * 64, i),
  })),
})
const folder = mkdtempSync(join(tmpdir(), 'hub-commit-'))
writeFileSync(join(folder, 'local.gguf'), original)
const hub = await startCommitHub({ id: 'bees/honey', path: kPath, token: kToken }, original)
after(async () => {
  await hub.close()
  rmSync(folder, { recursive: true })
})
beforeEach(() => {
  hub.content = original
  hub.commits.length = 0
  hub.requests.length = 0
})
const run = async (args: readonly string[], token = kToken) => {
  const ran = await runCli(['set', ...args], { cwd: folder, env: { HF_ENDPOINT: hub.url, HF_TOKEN: token } })
  if (token !== '') assert.ok(!(ran.out + ran.err).includes(token), 'the token is shown')
  return ran
}
const kLong = `general.name=${'a much longer name '.repeat(20)}`

test('without --commit it says what would be sent, and sends nothing', async () => {
  const { status, out, err } = await run([kFile, kLong])
  assert.equal(status, 0, err)
  assert.match(out, /^bees\/honey, branch main: folder\/small model\.gguf$/m)
  assert.match(out, /would be replaced by .*tensor data stay/)
  assert.match(out, /Nothing was changed: --commit makes the commit/)
  assert.ok(
    hub.requests.every((one) => one.startsWith('GET /bees/honey/resolve/main/')),
    hub.requests.join(),
  )
  const sent = JSON.parse((await run([kFile, kLong, '--json'])).out) as Record<string, number>
  using file = await open(original)
  assert.deepEqual([sent['oldHeader'], sent['kept']], [file.dataOffset, 3 * 64 * 64 * 4])
  assert.equal(sent['commit'], undefined)
})

test('--commit makes the file that the same change makes on disk', async () => {
  const { status, out, err } = await run([kFile, kLong, '--commit', '--message', 'Name it'])
  assert.equal(status, 0, err)
  assert.match(out, /were replaced by/)
  assert.match(out, /commit 2{40}: http/)
  assert.deepEqual(hub.commits, [
    { summary: 'Name it', parentCommit: '1'.repeat(40), path: kPath, pullRequest: false },
  ])
  // The header is read at the commit that is the parent.
  assert.ok(hub.requests.some((one) => one.startsWith(`GET /bees/honey/resolve/${'1'.repeat(40)}/`)))
  assert.equal((await run(['local.gguf', kLong, '--output', 'edited.gguf', '--force'])).status, 0)
  assert.deepEqual(Buffer.from(hub.content), readFileSync(join(folder, 'edited.gguf')))
})

test('a pull request changes no branch', async () => {
  const { status, out, err } = await run([kFile, 'general.name=new', '--commit', '--pull-request'])
  assert.equal(status, 0, err)
  assert.match(out, /discussions\/1$/m)
  assert.equal(hub.commits[0]!.pullRequest, true)
  assert.deepEqual(hub.content, original)
})

test('what cannot be committed is refused, and nothing is changed', async () => {
  const cases: [message: RegExp, status: number, args: string[], token?: string][] = [
    [/HF_TOKEN/, 2, [kFile, 'general.name=x', '--commit'], ''],
    [/\[unauthorized\]/, 1, [kFile, 'general.name=x', '--commit'], 'hf_another'],
    [/\[unauthorized\]/, 1, [kFile, 'general.name=x'], ''],
    [/also changes tensor data/, 1, [kFile, '--remove-tensor', 'y.weight', '--commit']],
    [/is for a file on Hugging Face/, 2, ['local.gguf', 'general.name=x', '--commit']],
    [/--message needs --commit/, 2, [kFile, 'general.name=x', '--message', 'x']],
    [/--commit and --output: one of them/, 2, [kFile, 'general.name=x', '--commit', '-o', 'x.gguf']],
    [/did you mean general\.name/, 2, [kFile, 'general.nane=x', '--commit']],
  ]
  for (const [message, status, args, token] of cases) {
    const ran = await run(args, token)
    assert.match(ran.err, message, args.join(' '))
    assert.equal(ran.status, status, args.join(' '))
  }
  assert.deepEqual([hub.commits.length, hub.content], [0, original])
})

test('commitToHub() tells how far it is, ends with its signal, and refuses another header', async () => {
  const client: HubClient = await import('@huggingface/hub')
  const address = `${hub.url}/bees/honey/resolve/main/${encodeURI(kPath)}`
  const at = { server: hub.url, token: kToken }
  const edit = async (file: Awaited<ReturnType<typeof open>>) =>
    (await file.edit()).set('general.name', 'a longer name')
  assert.deepEqual(hubFileOf(address, hub.url), {
    server: hub.url,
    repository: 'bees/honey',
    branch: 'main',
    path: kPath,
  })
  assert.equal(hubFileOf(address), undefined)
  await assert.rejects(commitToHub(address, edit), { code: 'invalid-argument' })
  const plan = await commitToHub(address, edit, at)
  assert.equal(plan.commit, undefined)
  const control = new AbortController()
  const stopped = commitToHub(address, edit, {
    ...at,
    client,
    signal: control.signal,
    onProgress: ({ phase }) => phase === 'hashing' && control.abort(new Error('enough')),
  })
  await assert.rejects(stopped, { message: 'enough' })
  const header = new Uint8Array(plan.newHeader)
  await assert.rejects(commitToHub(address, edit, { ...at, client, header }), { code: 'file-changed' })
  assert.equal(hub.commits.length, 0)
  const phases = new Set<string>()
  const done = await commitToHub(address, edit, {
    ...at,
    client,
    onProgress: ({ phase, done, total = done }) => {
      assert.ok(done >= 0 && done <= total, `${phase}: ${done} of ${total}`)
      phases.add(phase)
    },
  })
  assert.deepEqual([...phases], ['header', 'hashing', 'uploading', 'committing'])
  assert.ok(done.sent! > hub.content.length, `${done.sent} bytes sent`)
  assert.equal(done.commit, hub.sha)
  for (const [status, code] of [
    [403, 'forbidden'],
    [409, 'file-changed'],
    [500, 'server-error'],
  ] as const) {
    hub.refused = { path: '/commit/', status }
    await assert.rejects(commitToHub(address, edit, { ...at, client }), { code, status })
  }
  hub.refused = undefined
})

test('with Xet storage only changed chunks are sent', async () => {
  const large = writeGguf({
    metadata: [['general.architecture', text('llama')]],
    tensors: [{ name: 'x.weight', shape: [1024, 1536], type: 'F32', data: floatBytes(1024 * 1536, 7) }],
  })
  writeFileSync(join(folder, 'large.gguf'), large)
  const at = { id: 'bees/honey', path: 'large.gguf', token: kToken, xet: true }
  const storage = await startCommitHub(at, large)
  try {
    const { commit } = await import('@huggingface/hub')
    await commit({
      hubUrl: storage.url,
      accessToken: kToken,
      repo: 'bees/honey',
      title: 'First',
      operations: [{ operation: 'addOrUpdate', path: 'large.gguf', content: new Blob([large.slice()]) }],
    })
    assert.ok(storage.chunkBytes > large.length * 0.9, `${storage.chunkBytes} bytes at first`)
    storage.chunkBytes = 0
    const env = { HF_ENDPOINT: storage.url, HF_TOKEN: kToken }
    const ran = await runCli(['set', 'hf:bees/honey/large.gguf', kLong, '--commit'], { env })
    assert.equal(ran.status, 0, ran.err)
    assert.ok(storage.chunkBytes < large.length / 10, `${storage.chunkBytes} of ${large.length} bytes`)
    assert.equal((await run(['large.gguf', kLong, '--output', 'large-edited.gguf'])).status, 0)
    const edited = readFileSync(join(folder, 'large-edited.gguf'))
    assert.equal(storage.oid, createHash('sha256').update(edited).digest('hex'))
  } finally {
    await storage.close()
  }
})
