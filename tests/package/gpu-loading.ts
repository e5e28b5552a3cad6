// How the tests load models on a GPU: with software in place of a card, and a worker whose WebGPU is counted and can fail.
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type * as Engine from 'ggufscope/engine'
import type { Counted, Counts, Question } from './gpu-worker.ts'
import { packedFile } from './packed.ts'

export const kOptions: Engine.LoadOptions = { contextLength: 128, cacheType: 'f32', precision: 'exact' }
export const kSoftware: Engine.LoadOptions = { ...kOptions, device: 'gpu', allowFallbackAdapter: true }

/** Options for a worker whose WebGPU is counted, and fails as the query says. */
export function withWorker(query = ''): Engine.LoadOptions {
  const script = pathToFileURL(packedFile('wasm/dist/engine/engine-gpu-worker.js')).href
  // A worker gets a copy of the variables when it starts.
  process.env['GPU_WORKER'] = `script=${encodeURIComponent(script)}${query}`
  return { ...kSoftware, assets: { 'engine-gpu-worker.js': new URL('./gpu-worker.ts', import.meta.url) } }
}

/** Asks the worker for its counts, or says when its device is lost from now on. */
export async function askWorker(question: Question = {}): Promise<Counts> {
  const channel = new BroadcastChannel('counts')
  try {
    return await new Promise((resolve) => {
      channel.onmessage = ({ data }: MessageEvent<Counts>) => resolve(data)
      channel.postMessage(question)
    })
  } finally {
    channel.close()
  }
}

/** The counts at each read-back. */
export const countsOf = async (): Promise<Counted[]> => (await askWorker()).reads

/** The calls for each token of an answer. layers: dispatches of all layers, at most. */
export function checkPasses(reads: readonly Counted[], layers: number, tokens: number): void {
  assert.ok(reads.length >= tokens, `${reads.length} passes`)
  // The first read-back is that of the prompt. Passes for one token follow.
  for (let i = 2; i < reads.length; i++) {
    const [last, next] = [reads[i - 1]!, reads[i]!]
    const more = (name: string): number => (next.calls[name] ?? 0) - (last.calls[name] ?? 0)
    for (const name of ['writeBuffer', 'submit', 'beginComputePass', 'mapAsync'])
      assert.equal(more(name), 1, name)
    for (const name of [
      'createBuffer',
      'createBindGroup',
      'createComputePipelineAsync',
      'createShaderModule',
    ])
      assert.equal(more(name), 0, name)
    assert.ok(next.readBytes - last.readBytes <= 64, 'bytes that are read back for a token')
    assert.ok(more('dispatchWorkgroups') <= layers + 3, 'dispatches of a token')
  }
}

interface Times {
  readonly cpu: number
  readonly gpu: number
  readonly products?: readonly number[]
}

/** The times of a trial, in the one file where they are kept. */
export interface KeptTimes {
  read(): Times
  write(times: Times): void
}

/** Calls a function for which no times are known yet. */
export async function withoutTimes(use: (kept: KeptTimes) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'device-times-'))
  const before = process.env['XDG_CACHE_HOME']
  process.env['XDG_CACHE_HOME'] = folder
  const path = (): string => {
    const kept = join(folder, 'ggufscope/device-times')
    const [name, ...others] = readdirSync(kept)
    assert.deepEqual(others, [])
    return join(kept, name!)
  }
  try {
    await use({
      read: () => JSON.parse(readFileSync(path(), 'utf8')) as Times,
      write: (times) => writeFileSync(path(), JSON.stringify(times)),
    })
  } finally {
    if (before === undefined) delete process.env['XDG_CACHE_HOME']
    else process.env['XDG_CACHE_HOME'] = before
    rmSync(folder, { recursive: true })
  }
}
