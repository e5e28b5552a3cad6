// A model's weights over HTTP: few requests and the same model, even if the server has faults.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import type * as Engine from 'ggufscope/engine'
import { kFirstText, syntheticFile } from '../fixtures/synthetic.ts'
import type { Faults } from '../server/faults.ts'
import { startServer } from '../server/server.ts'
import { packedFile } from './packed.ts'

const { load } = (await import(pathToFileURL(packedFile('wasm/dist/engine/index.js')).href)) as typeof Engine

const kShape = {
  name: 'wide',
  width: 512,
  blocks: 2,
  heads: 4,
  kvHeads: 2,
  feedForward: 512,
  vocabulary: 124_000,
}
const kPath = '/model.gguf'
const kTokens = [kFirstText, kFirstText + 100, kFirstText + 10_000]
const folder = mkdtempSync(join(tmpdir(), 'ggufscope-'))
const bytes = new Uint8Array(readFileSync(await syntheticFile(folder, kShape, 'Q8_0')))
const small = { ...kShape, name: 'small', vocabulary: 1000 }
const smallBytes = new Uint8Array(readFileSync(await syntheticFile(folder, small, 'Q8_0')))
rmSync(folder, { recursive: true })
const server = await startServer()
after(() => server.close())
server.add(kPath, bytes)

async function logits(source: string | Uint8Array, options: Engine.LoadOptions = {}): Promise<Float32Array> {
  using model = await load(source, { threads: 1, ...options })
  return await model.evaluate(kTokens)
}
const expected = await logits(bytes)

async function check(faults: Faults[], options: Engine.LoadOptions = {}): Promise<number> {
  server.plan(kPath, ...faults)
  server.reset()
  assert.deepEqual(await logits(`${server.url}${kPath}`, options), expected)
  return server.counts(kPath).requests
}

/** Loads over a connection so slow that further requests start, and is fast from then on. */
async function slowly(faults: Faults[], options: Engine.LoadOptions = {}): Promise<number> {
  server.reset()
  server.setBandwidth(8e6)
  const watch = setInterval(() => {
    if (server.counts(kPath).requests > 1) server.setBandwidth(Infinity)
  }, 10)
  try {
    return await check(faults, options)
  } finally {
    clearInterval(watch)
    server.setBandwidth(Infinity)
  }
}

test("weights arrive by the header's request; on slow connections, parallel requests are added", async () => {
  const seen: Engine.LoadProgress[] = []
  const requests = await slowly([], { onProgress: (progress) => seen.push(progress) })
  assert.ok(requests === 2 || requests === 3, `${requests} requests`)
  const weights = seen.filter(({ phase }) => phase === 'weights')
  assert.ok(weights.length > 3, 'pieces of a request are packed as they come')
  for (const [i, { loaded, tensors }] of weights.entries()) {
    const before = weights[i - 1] ?? { loaded: 0, tensors: 0 }
    assert.ok(loaded >= before.loaded && tensors >= before.tensors)
    assert.ok(loaded > before.loaded || tensors > before.tensors, 'nothing is reported twice')
  }
  const { loaded, total, tensors, tensorCount } = weights.at(-1)!
  assert.deepEqual([loaded, tensors], [total, tensorCount])
})

test('progress is reported on slow links', async () => {
  server.add('/slow.gguf', smallBytes)
  server.setBandwidth(smallBytes.length / 60) // a minute, but for the reports
  const seen: Engine.LoadProgress[] = []
  const ofBytes = () => seen.filter(({ tensors }, i) => tensors === seen[i - 1]?.tensors).length
  const onProgress = (progress: Engine.LoadProgress) => {
    if (progress.phase === 'weights') seen.push(progress)
    if (ofBytes() >= 5) server.setBandwidth(Infinity)
  }
  try {
    using _ = await load(`${server.url}/slow.gguf`, { onProgress })
  } finally {
    server.setBandwidth(Infinity)
  }
  assert.ok(ofBytes() >= 5, `${ofBytes()} of ${seen.length} reports between two tensors`)
  assert.equal(seen.at(-1)!.loaded, seen.at(-1)!.total)
})

test('a small file is one request', async () => {
  server.add('/small.gguf', smallBytes)
  using model = await load(`${server.url}/small.gguf`, { threads: 1 })
  using same = await load(smallBytes, { threads: 1 })
  assert.deepEqual(await model.evaluate([kFirstText]), await same.evaluate([kFirstText]))
  assert.equal(server.counts('/small.gguf').requests, 1)
})

test('a load that is refused or aborted before its weights ends its transfer', async () => {
  server.plan(kPath)
  server.reset()
  await assert.rejects(logits(`${server.url}${kPath}`, { memoryLimit: 1 }), { code: 'out-of-memory' })
  const control = new AbortController()
  const options = { signal: control.signal, onProgress: () => control.abort('enough') }
  await assert.rejects(logits(`${server.url}${kPath}`, options), (error) => error === 'enough')
  // The server notices the abort only when it sends its next bytes.
  for (let tries = 0; tries < 500 && server.log.some(({ aborted }) => !aborted); tries++) await sleep(20)
  assert.deepEqual(
    server.log.map(({ aborted }) => aborted),
    [true, true],
  )
})

test('a server without ranges is asked once', async () => {
  server.setBandwidth(60e6)
  try {
    assert.equal(await check([{ ranges: 'off' }]), 1)
  } finally {
    server.setBandwidth(Infinity)
  }
})

test('broken connections and short responses continue where they stopped', async () => {
  assert.ok((await check([{ times: 4, cut: 700_000 }])) > 4)
  assert.ok((await slowly([{ after: 1, times: 4, cut: 700_000 }])) > 4)
  assert.ok((await slowly([{ after: 1, shorten: 1_000_000 }])) > 4)
})

test('responses without BYOB readers are read', async () => {
  const plain: typeof fetch = async (input, init) => {
    const answer = await fetch(input, init)
    const pieces = answer.body!.getReader()
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { done, value } = await pieces.read()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: (reason) => pieces.cancel(reason),
    })
    return new Response(body, answer)
  }
  assert.ok((await slowly([], { fetch: plain })) >= 2)
})

test('stops on an abort, and if a range cannot be read', async () => {
  server.plan(kPath)
  const control = new AbortController()
  const reason = new Error('enough')
  const options = {
    signal: control.signal,
    onProgress: ({ phase }: Engine.LoadProgress) => phase === 'weights' && control.abort(reason),
  }
  await assert.rejects(logits(`${server.url}${kPath}`, options), (error) => error === reason)
  await assert.rejects(slowly([{ after: 1, status: 404 }]), { name: 'GgufError', code: 'no-such-file' })
})
