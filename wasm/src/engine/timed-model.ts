// What device 'auto' times of a model, by its kind: tokens of a language model, a window of a Whisper model.
import type { OpenFile } from '../file/file.js'
import type { Client } from './client.js'
import { cutOfText, cutOfWhisper, type Cut } from './cut-file.js'
import { isSpeech } from './file-kinds.js'
import type { GenerateCall, PlannedModel, Products } from './protocol.js'
import type { LoadOptions } from './types.js'

/** Tokens of a prompt that is computed as one pass. */
const kPromptTokens = 96
/** Tokens of a run, after which the fastest of some runs counts: the others were disturbed. */
const kTokens = 8
const kRuns = 3
const kSpeechRuns = 2
/** Of a window before these runs, with one token: what is slow only once is not timed. */
const kFirstFrames = 8
/** What people say in 30 s, with the timestamps. */
const kWindowTokens = 100
const kSampleRate = 16000
const kFramesASecond = 50

export interface TimedModel extends Cut {
  /** what the devices took, for people */
  compare(gpu: string, cpu: string): string
  /** Milliseconds of what each stack takes part in. */
  readonly time: TimeStacks
  /** on a graphics card: what timeProducts() returns */
  readonly timeProducts?: TimeStacks
}

type TimeStacks = (
  client: Client,
  opened: PlannedModel,
  signal: LoadOptions['signal'],
) => Promise<readonly number[]>

/** Greedy sampling without anything that changes logits. */
function greedyCall(
  { defaults }: PlannedModel,
  maxTokens: number,
  tokens: Int32Array = new Int32Array(1),
): GenerateCall {
  const none = { repeatPenalty: 1, frequencyPenalty: 0, presencePenalty: 0, dryMultiplier: 0 }
  return {
    sequence: 0,
    tokens,
    options: {
      sampler: { ...defaults, ...none, temperature: 0, mirostat: 0, xtcProbability: 0 },
      seed: 0,
      logprobs: 0,
      lookup: 0,
      draft: 0,
      keep: 0,
      ignoreEnd: true,
      contextShift: false,
    },
    stop: [],
    bias: new Float64Array(),
    grammar: '',
    triggers: [],
    shown: new Int32Array(),
    ablated: new Int32Array(),
    maxTokens,
    answered: new Int32Array(),
  }
}

/** Milliseconds of a token; of a text if the model does not generate. */
async function timeTokens(
  client: Client,
  opened: PlannedModel,
  signal: LoadOptions['signal'],
): Promise<readonly number[]> {
  const text = { sequence: 0, tokens: new Int32Array(kTokens), pooling: 'none' as const }
  const run = async (): Promise<number> => {
    const startedAt = performance.now()
    if (opened.facts.encoder) {
      await client.call('embed', text, { signal })
      return (performance.now() - startedAt) / kTokens
    }
    const { generateMs, tokens } = await client.call('generate', greedyCall(opened, kTokens), { signal })
    return generateMs / (tokens - 1)
  }
  const times: number[] = []
  // The first run compiles.
  for (let i = 0; i <= kRuns; i++) times.push(await run())
  return [Math.min(...times.slice(1))]
}

const kProducts: readonly Products[] = [
  { tokens: 'floats', prompts: 'floats' },
  { tokens: 'integers', prompts: 'integers' },
  { tokens: 'floats', prompts: 'halves' },
]

/**
 * Milliseconds of a token in floats and in integers, and of a prompt in these and, where the device has them, in halves. In
 * turn: what else the device does disturbs all of them.
 */
async function timeProducts(
  client: Client,
  opened: PlannedModel,
  signal: LoadOptions['signal'],
): Promise<readonly number[]> {
  const run = async (first: number): Promise<readonly [token: number, prompt: number]> => {
    // Another text each time: what is in the cache is not computed.
    const prompt = new Int32Array(kPromptTokens).fill(first)
    if (opened.facts.encoder) {
      const startedAt = performance.now()
      await client.call('embed', { sequence: 0, tokens: prompt, pooling: 'none' }, { signal })
      return [0, performance.now() - startedAt]
    }
    const call = greedyCall(opened, kTokens, prompt)
    const { promptMs, generateMs, tokens } = await client.call('generate', call, { signal })
    return [generateMs / (tokens - 1), promptMs]
  }
  const hasHalves = await client.call('useProducts', kProducts[0]!, { signal })
  const ways = hasHalves ? kProducts : kProducts.slice(0, 2)
  const best = ways.map(() => [Infinity, Infinity] as const)
  for (let i = 0; i <= kRuns; i++)
    for (const [which, products] of ways.entries()) {
      await client.call('useProducts', products, { signal })
      const [token, prompt] = await run(ways.length * i + which)
      // The first run compiles.
      const [bestToken, bestPrompt] = best[which]!
      if (i > 0) best[which] = [Math.min(bestToken, token), Math.min(bestPrompt, prompt)]
    }
  return [best[0]![0], best[1]![0], ...best.map(([, prompt]) => prompt)]
}

const timedTokens = (file: OpenFile): TimedModel => ({
  ...cutOfText(file),
  compare: (gpu, cpu) => `a token takes ${gpu} on the graphics card and ${cpu} on the CPU.`,
  time: timeTokens,
  timeProducts,
})

/** Milliseconds of the encoder, and of the decoder's tokens of a window. */
async function timeWindow(
  client: Client,
  _opened: PlannedModel,
  signal: LoadOptions['signal'],
): Promise<readonly number[]> {
  const sound = { channels: [new Float32Array(kSampleRate)], sampleRate: kSampleRate }
  const run = async (audioContext: number, tokens: number): Promise<readonly number[]> => {
    const startedAt = performance.now()
    await client.call('encodeSpeech', { sound, audioContext }, { signal })
    const encodedAt = performance.now()
    for (let i = 0; i < tokens; i++)
      await client.call('evaluateSpeech', { tokens: new Int32Array(1) }, { signal })
    return [encodedAt - startedAt, ((performance.now() - encodedAt) * kWindowTokens) / tokens]
  }
  await run(kFirstFrames, 1)
  const runs: (readonly number[])[] = []
  for (let i = 0; i < kSpeechRuns; i++) runs.push(await run(0, kTokens))
  return [0, 1].map((part) => Math.min(...runs.map((times) => times[part]!)))
}

function timedWindow(file: OpenFile): TimedModel {
  const seconds = Number(file.metadata.get('whisper.encoder.context_length')) / kFramesASecond
  return {
    ...cutOfWhisper(file),
    compare: (gpu, cpu) =>
      `a window of ${seconds} s takes ${gpu} on the graphics card and ${cpu} on the CPU.`,
    time: timeWindow,
  }
}

export const timedModel = (file: OpenFile): TimedModel =>
  isSpeech(file) ? timedWindow(file) : timedTokens(file)
