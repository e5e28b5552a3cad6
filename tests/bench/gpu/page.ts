// What the page of browser.ts runs: loads one model in one engine on the card, and sends the times to the address that it
// was given. Bundled for the page by pack.sh.
import type * as Engine from 'ggufscope/engine'

export interface Task {
  /** ggufscope multiplies floats, ggufscope-fast integers */
  readonly engine: 'ggufscope' | 'ggufscope-fast' | 'wllama'
  readonly model: string
  readonly context: number
  /** another text for each run */
  readonly prompts: readonly string[]
  readonly tokens: number
  /** a software adapter is allowed */
  readonly software: boolean
  readonly results: string
}

/** Milliseconds after the start of an answer at which its tokens came. */
type Answer = (prompt: string) => Promise<number[]>

async function loadOurs(file: Blob, { engine, context, tokens, software }: Task): Promise<Answer> {
  const { load } = (await import(new URL('/ggufscope/engine/index.js', location.href).href)) as typeof Engine
  const precision = engine === 'ggufscope-fast' ? 'fast' : 'exact'
  const options = { contextLength: context, cacheType: 'f16', device: 'gpu', precision } as const
  const model = await load(file, { ...options, allowFallbackAdapter: software })
  return async (prompt) => {
    const [times, began] = [[] as number[], performance.now()]
    for await (const { token } of model.generate(prompt, {
      temperature: 0,
      maxTokens: tokens,
      ignoreEnd: true,
    }))
      if (token >= 0) times.push(performance.now() - began)
    return times
  }
}

interface Wllama {
  loadModel(blobs: Blob[], options: object): Promise<void>
  createCompletion(options: object): Promise<AsyncIterable<{ choices: { text: string }[] }>>
}

async function loadWllama(file: Blob, { context, tokens }: Task): Promise<Answer> {
  const address = new URL('/wllama/index.js', location.href).href
  const { Wllama } = (await import(address)) as { Wllama: new (paths: object, config: object) => Wllama }
  const wllama = new Wllama({ default: '/wllama/wasm/wllama.wasm' }, { suppressNativeLog: true })
  // All layers are on the card by default.
  await wllama.loadModel([file], { n_ctx: context, n_batch: 512, n_parallel: 1 })
  return async (prompt) => {
    const [times, began] = [[] as number[], performance.now()]
    const request = { temperature: 0, ignore_eos: true, cache_prompt: false, stream: true }
    for await (const { choices } of await wllama.createCompletion({ ...request, prompt, max_tokens: tokens }))
      if (choices[0]?.text) times.push(performance.now() - began)
    return times
  }
}

async function facts({ software }: Task): Promise<object> {
  const adapter = await navigator.gpu.requestAdapter({ powerPreference: 'high-performance' })
  if (adapter === null) throw new Error('No adapter answers.')
  const { vendor, architecture, device, description, isFallbackAdapter } = adapter.info
  if ((isFallbackAdapter || vendor === 'google') && !software)
    throw new Error(`Software answers instead of a card: ${vendor} ${architecture}.`)
  const f16 = adapter.features.has('shader-f16')
  return { vendor, architecture, device, description, isFallbackAdapter, f16 }
}

async function run(task: Task): Promise<object> {
  const adapter = await facts(task)
  const began = performance.now()
  const file = await (await fetch(task.model)).blob()
  const answer = await (task.engine === 'wllama' ? loadWllama : loadOurs)(file, task)
  const loadMs = performance.now() - began
  const runs: number[][] = []
  for (const prompt of task.prompts) runs.push(await answer(prompt))
  return { adapter, bytes: file.size, loadMs, runs }
}

const task = JSON.parse(decodeURIComponent(location.hash.slice(1))) as Task
const result = await run(task).catch((error: unknown) => ({ error: String(error) }))
await fetch(task.results, { method: 'POST', body: JSON.stringify(result) })
