// ggufscope/engine of the packed package in Node, on the trained sample model.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { ChatMessage } from 'ggufscope'
import type * as Engine from 'ggufscope/engine'
import { engine, kStories as kFile, stories as bytes, textOf as text } from './engine.ts'
import { packedFile } from './packed.ts'

const { load, createChatCompletion, streamChatCompletion, GgufError } = engine
const kPrompt = 'Once upon a time'

test('loads, describes the model, and generates the same text with the same seed', async () => {
  const seen: Engine.LoadProgress[] = []
  using model = await load(bytes, { onProgress: (progress) => seen.push(progress) })
  assert.equal(model.info.architecture, 'llama')
  assert.equal(model.info.variant, 'relaxed', model.info.variantReason)
  assert.equal(model.info.contextLength, 384)
  assert.equal(seen[0]?.phase, 'header')
  assert.equal(seen.at(-1)?.phase, 'ready')
  const weights = seen.filter(({ phase }) => phase === 'weights')
  assert.equal(weights.at(-1)?.loaded, weights.at(-1)?.total)
  let result: Engine.GenerateResult | undefined
  const options = { seed: 7, onDone: (done: Engine.GenerateResult) => (result = done) }
  const first = await text(model.generate(kPrompt, options))
  assert.match(first, /^, a [a-z]+ [a-z]+ /)
  assert.equal(result?.finishReason, 'end')
  assert.equal(await text(model.generate(kPrompt, options)), first)
  assert.equal(result?.reusedTokens, result!.promptTokens - 1)
  assert.notEqual(await text(model.generate(kPrompt, { seed: 8 })), first)
})

test('sampler options, limits and log probabilities take effect', async () => {
  using model = await load(bytes)
  const greedy = { temperature: 0, logprobs: 3, maxTokens: 10 }
  let tokens = 0
  for await (const piece of model.generate(kPrompt, greedy)) {
    tokens++
    assert.equal(piece.alternatives?.length, 3)
    assert.equal(piece.alternatives[0]?.token, piece.token)
    assert.equal(piece.alternatives[0]?.logprob, piece.logprob)
    assert.ok(piece.logprob! <= 0 && piece.alternatives[1]!.logprob <= piece.logprob!)
  }
  assert.equal(tokens, 10)
  const whole = await text(model.generate(kPrompt, { temperature: 0 }))
  assert.equal(
    await text(model.generate(kPrompt, { temperature: 0, stop: ['lived'] })),
    whole.split('lived')[0],
  )
  const comma = model.tokenizer.encode(',')[0]!
  const without = { logitBias: { [comma]: -Infinity }, seed: 3, maxTokens: 40 }
  for await (const piece of model.generate(kPrompt, without)) assert.notEqual(piece.token, comma)
  await assert.rejects(text(model.generate(kPrompt, { temperature: NaN })), { code: 'invalid-argument' })
  await assert.rejects(text(model.generate([5000])), { code: 'out-of-range' })
})

test("chat renders the template, also for requests of OpenAI's shape", async () => {
  using model = await load(bytes)
  const messages = [{ role: 'user', content: 'What do bees make?' }]
  assert.equal(await text(model.chat(messages, { temperature: 0 })), 'Bees make honey.')
  const whole = await createChatCompletion(model, { messages, temperature: 0 })
  assert.equal(whole.choices[0]?.message.content, 'Bees make honey.')
  assert.equal(whole.choices[0]?.finish_reason, 'stop')
  let streamed = ''
  let last: Engine.ChatCompletionChunk | undefined
  for await (const chunk of streamChatCompletion(model, { messages, temperature: 0, max_tokens: 2 })) {
    streamed += chunk.choices[0]?.delta.content ?? ''
    last = chunk
  }
  assert.ok(streamed !== '' && 'Bees make honey.'.startsWith(streamed), streamed)
  assert.equal(last?.choices[0]?.finish_reason, 'length')
  assert.equal(last?.usage?.completion_tokens, 2)
})

test('a chat turn computes only tokens that are not in the cache, also after the history changed', async () => {
  let done: Engine.GenerateResult | undefined
  const chat = (model: Engine.Model, messages: ChatMessage[]) =>
    text(model.chat(messages, { temperature: 0, onDone: (result) => (done = result) }))
  const alone = async (messages: ChatMessage[]) => {
    using fresh = await load(bytes)
    const answer = await chat(fresh, messages)
    assert.equal(done?.reusedTokens, 0)
    return answer
  }
  using model = await load(bytes)
  const tokensOf = async (messages: ChatMessage[]) =>
    model.tokenizer.encode(await model.file.renderChat(messages), { special: true })
  const first = [{ role: 'user', content: 'What do bees make?' }]
  const answer = await chat(model, first)
  // The last token was sampled but not evaluated, because no further token was needed.
  const computed = done!.promptTokens + done!.tokens - 1
  const story = { role: 'user', content: 'Tell me a story about an owl.' }
  const second = [...first, { role: 'assistant', content: answer }, story]
  const told = await chat(model, second)
  assert.equal(done?.reusedTokens, computed)
  assert.equal(told, await alone(second))

  const third = [...first, { role: 'assistant', content: 'Bees sleep.' }, story]
  const [old, rewritten] = [await tokensOf(second), await tokensOf(third)]
  const same = rewritten.findIndex((token, i) => token !== old[i])
  const again = await chat(model, third)
  assert.ok(same > 5 && same < computed)
  assert.equal(done?.reusedTokens, same)
  assert.equal(again, await alone(third))
})

test('prompt-lookup decoding of answers that quote gives the same tokens', async () => {
  using model = await load(bytes)
  const story = await text(model.generate(kPrompt, { temperature: 0 }))
  for (const temperature of [0, 0.7]) {
    let accepted = 0
    const options = {
      temperature,
      seed: 3,
      onDone: (done: Engine.GenerateResult) => {
        accepted = done.acceptedDraftTokens
        assert.equal(done.guessedTokens, accepted) // the deprecated name
      },
    }
    const prompt = `${kPrompt}${story}${kPrompt}`
    const plain = await text(model.generate(prompt, options))
    assert.equal(accepted, 0)
    assert.equal(await text(model.generate(prompt, { ...options, lookup: 8 })), plain)
    if (temperature === 0) assert.ok(accepted > 0, 'how many depends on measured times')
  }
})

test('answers match a schema or a grammar with any sampling', async () => {
  using model = await load(bytes)
  const schema: Engine.JsonSchema = {
    type: 'object',
    properties: {
      name: { type: 'string', minLength: 1, maxLength: 12 },
      kind: { enum: ['owl', 'bee', 'fox'] },
      legs: { type: 'integer', minimum: 0, maximum: 8 },
      friends: { type: 'array', items: { $ref: '#/$defs/friend' }, maxItems: 3 },
      born: { type: 'string', format: 'date' },
    },
    required: ['name', 'kind', 'legs', 'friends'],
    additionalProperties: false,
    $defs: { friend: { anyOf: [{ type: 'string', pattern: '^[A-Z][a-z]{2,9}$' }, { type: 'null' }] } },
  }
  const validate = new Ajv2020({ formats: { date: /^\d{4}-\d\d-\d\d$/ } }).compile(schema)
  for (let seed = 0; seed < 24; seed++) {
    let result: Engine.GenerateResult | undefined
    const options = {
      schema,
      seed,
      temperature: [0, 1, 50][seed % 3],
      topK: seed % 2 === 0 ? 0 : 40,
      onDone: (done: Engine.GenerateResult) => (result = done),
    }
    const answer = await text(model.generate(kPrompt, options))
    assert.equal(result?.finishReason, 'end', answer)
    assert.ok(validate(JSON.parse(answer)), `${answer}: ${JSON.stringify(validate.errors)}`)
  }
  assert.equal(
    await text(model.generate(kPrompt, { grammar: 'root ::= ", \\u00e4" [x]{3}', temperature: 0 })),
    ', \u00e4xxx',
  )
  const messages = [{ role: 'user', content: 'What do bees make?' }]
  const whole = await createChatCompletion(model, {
    messages,
    temperature: 3,
    seed: 5,
    max_tokens: 300,
    response_format: {
      type: 'json_schema',
      json_schema: {
        schema: { type: 'object', properties: { bees: { const: 'honey' } }, required: ['bees'] },
      },
    },
  })
  assert.deepEqual(JSON.parse(whole.choices[0]!.message.content!), { bees: 'honey' })
  assert.equal(whole.choices[0]!.finish_reason, 'stop')
  const start = await createChatCompletion(model, {
    messages,
    max_tokens: 4,
    response_format: { type: 'json_object' },
  })
  assert.match(start.choices[0]!.message.content!, /^\{/)
  await assert.rejects(text(model.generate(kPrompt, { grammar: 'root ::= (' })), {
    code: 'invalid-argument',
    offset: 9,
  })
  await assert.rejects(text(model.generate(kPrompt, { grammar: 'root ::= "a"', schema })), {
    code: 'invalid-argument',
  })
  await assert.rejects(text(model.generate(kPrompt, { schema: { not: {} } })), { code: 'invalid-argument' })
  assert.match(await text(model.generate(kPrompt, { temperature: 0 })), /lived/)
})

test('aborts within one token, and can generate afterwards', async () => {
  using model = await load(bytes)
  const controller = new AbortController()
  const reason = new Error('enough')
  let seen = 0
  await assert.rejects(async () => {
    for await (const _ of model.generate(kPrompt, { signal: controller.signal, ignoreEnd: true })) {
      if (++seen === 5) controller.abort(reason)
    }
  }, reason)
  assert.ok(seen <= 6, `${seen} pieces after the abort`)
  for await (const _ of model.generate(kPrompt, { ignoreEnd: true })) break
  assert.match(await text(model.generate(kPrompt, { temperature: 0 })), /lived/)
  await assert.rejects(load(bytes, { signal: AbortSignal.abort(reason) }), reason)
})

test('evaluate agrees in both precisions, embed returns a vector, states are restored', async () => {
  using fast = await load(bytes)
  using exact = await load(bytes, { precision: 'exact', cacheType: 'f32' })
  const tokens = fast.tokenizer.encode('Bees make honey.', { bos: true })
  const [a, b] = [await fast.evaluate(tokens), await exact.evaluate(tokens)]
  assert.equal(a.length, tokens.length * fast.info.vocabularySize)
  const worst = a.reduce((most, value, i) => Math.max(most, Math.abs(value - b[i]!)), 0)
  assert.ok(worst > 0 && worst < 1, `differs by ${worst}`)
  assert.equal((await exact.embed('honey')).length, exact.info.embeddingLength)
  const before = await text(fast.generate(kPrompt, { temperature: 0 }))
  const state = await fast.saveState()
  using other = await load(bytes)
  await other.loadState(state)
  let reused = 0
  const after = await text(
    other.generate(kPrompt, { temperature: 0, onDone: (done) => (reused = done.reusedTokens) }),
  )
  assert.equal(after, before)
  assert.ok(reused > 0)
})

test('models that cannot run are refused before weights are fetched', async () => {
  const read: number[] = []
  const source = {
    size: bytes.length,
    read: async (offset: number, length: number) => {
      read.push(offset)
      return bytes.slice(offset, offset + length)
    },
  }
  await assert.rejects(load(source, { memoryLimit: 1e6 }), (error) => {
    assert.ok(error instanceof GgufError)
    assert.equal(error.code, 'out-of-memory')
    assert.match(error.message, /needs \d.* MB/)
    return true
  })
  assert.ok(Math.max(...read) < 100_000)
  const unknown = bytes.slice()
  unknown.set(new TextEncoder().encode('lamma'), Buffer.from(bytes).indexOf('llama'))
  await assert.rejects(load(unknown), { code: 'unsupported' })
  await assert.rejects(load(bytes, { contextLength: 0.5 }), { code: 'invalid-argument' })
})

test('a diffusion model computes logits, and refuses to generate', async () => {
  using plain = await load(bytes)
  const builder = await plain.file.edit()
  for (const key of plain.file.metadata.keys())
    if (key.startsWith('llama.')) builder.rename(key, key.replace('llama', 'llada'))
  using model = await load(await (await builder.set('general.architecture', 'llada').build()).bytes())
  const tokens = plain.tokenizer.encode('Bees make honey.', { bos: true })
  const [one, other] = [await model.evaluate(tokens), await plain.evaluate(tokens)]
  assert.equal(one.length, other.length)
  assert.notDeepEqual(one, other)
  await assert.rejects(text(model.generate(kPrompt)), {
    code: 'unsupported',
    message: /sees a whole text at once/,
  })
})

test('split and big-endian models give the same text', async () => {
  using whole = await load(bytes, { precision: 'exact' })
  const tokens = whole.tokenizer.encode('Bees make honey.', { bos: true })
  const expected = await whole.evaluate(tokens)
  const inTurn = await (await whole.file.edit()).build({ endianness: 'big' })
  using big = await load(await inTurn.bytes(), { precision: 'exact' })
  assert.equal(big.file.endianness, 'big')
  assert.deepEqual(await big.evaluate(tokens), expected)
  const parts = await (await whole.file.edit()).split('stories', { maxTensors: 9 })
  assert.ok(parts.length > 3)
  const files = await Promise.all(parts.map(async (part) => new File([await part.bytes()], part.name!)))
  using split = await load(files, { precision: 'exact' })
  assert.equal(split.file.shards.length, parts.length)
  assert.deepEqual(await split.evaluate(tokens), expected)
  assert.equal(
    await text(split.chat([{ role: 'user', content: 'What do bees make?' }], { temperature: 0 })),
    'Bees make honey.',
  )
  // The first of a set may have fewer tensors than there are layers, or none.
  const single = await (await whole.file.edit()).split('stories', { maxTensors: 1 })
  const singles = await Promise.all(single.map(async (part) => new File([await part.bytes()], part.name!)))
  using spread = await load(singles, { precision: 'exact' })
  assert.deepEqual(await spread.evaluate(tokens), expected)
  await assert.rejects(load(files.slice(1)), { code: 'missing-shard' })
  const twice = [...files.slice(0, -1), new File([files[1]!], files.at(-1)!.name)]
  await assert.rejects(load(twice), { message: /damaged.*split\.no is 1/ })
  await assert.rejects(load(bytes.slice(0, -40)), { code: 'truncated' })
})

test('forks share computed tokens and are closed independently', async () => {
  using model = await load(bytes, { maxForks: 2, contextLength: 256 })
  const story = 'Long ago, in a garden full of flowers, there lived a small '
  await text(model.generate(story, { maxTokens: 1 }))
  const forks = [await model.fork(), await model.fork()]
  await assert.rejects(model.fork(), { code: 'out-of-range', message: /maxForks/ })
  const reused: number[] = []
  const answer = (one: Engine.Model, prompt: string) =>
    text(
      one.generate(prompt, {
        temperature: 0,
        maxTokens: 20,
        onDone: ({ reusedTokens }) => reused.push(reusedTokens),
      }),
    )
  const answers = await Promise.all(
    [`${story}owl`, `${story}bee`].map((prompt, i) => answer(forks[i]!, prompt)),
  )
  assert.ok(reused.length === 2 && reused.every((n) => n > 10), `${reused}`)
  using alone = await load(bytes)
  assert.deepEqual(answers, [await answer(alone, `${story}owl`), await answer(alone, `${story}bee`)])
  const kept = await forks[1]!.saveState()
  forks[0]!.close()
  await assert.rejects(answer(forks[0]!, story), { code: 'closed' })
  using again = await model.fork()
  await again.loadState(kept)
  assert.equal(await answer(again, `${story}bee`), answers[1])
  model.close()
  await assert.rejects(answer(forks[1]!, story), { code: 'closed' })
  await assert.rejects(load(bytes, { maxForks: 99 }), { code: 'invalid-argument' })
  await assert.rejects(load(bytes, { cacheType: 'f64' as 'f32' }), { code: 'invalid-argument' })
})

test('a Node script runs models and exits', () => {
  const program = `import { readFileSync } from 'node:fs'
    import { load } from ${JSON.stringify(pathToFileURL(packedFile('wasm/dist/engine/index.js')).href)}
    using model = await load(new Blob([readFileSync(${JSON.stringify(kFile)})]), { threads: 2 })
    for await (const { token } of model.generate('Once', { maxTokens: 3, ignoreEnd: true })) console.log(token >= 0)`
  const told = execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })
  assert.equal(told, 'true\n'.repeat(3))
})

test('an answer that was left early does not end the script while the next one is computed', () => {
  const program = `import { readFileSync } from 'node:fs'
    import { load } from ${JSON.stringify(pathToFileURL(packedFile('wasm/dist/engine/index.js')).href)}
    using model = await load(new Blob([readFileSync(${JSON.stringify(kFile)})]), { threads: 1 })
    const going = { maxTokens: 300, ignoreEnd: true }
    for await (const _ of model.generate('Once', going)) {
      // Meanwhile more pieces of this answer arrive than are kept for a reader.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500)
      break
    }
    let n = 0
    for await (const _ of model.generate('Long ago', going)) n++
    console.log(n >= 300)`
  const ran = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })
  assert.deepEqual([ran.status, ran.stdout], [0, 'true\n'], ran.stderr)
})

test('the run command generates text', () => {
  const run = (...args: string[]) =>
    execFileSync(process.execPath, [packedFile('wasm/dist/cli.js'), 'run', kFile, ...args], {
      encoding: 'utf8',
    })
  assert.match(run('What do bees make?', '--chat', '--temperature', '0'), /^Bees make honey\.\n/)
  // This template begins the reasoning, which the sample never ends. Reasoning is dimmed.
  const reasoned = spawnSync(
    process.execPath,
    [packedFile('wasm/dist/cli.js'), 'run', kFile, 'Bees?', '--chat', '--template', 'bailing-think', '--temperature', '0', '--max-tokens', '8'], // prettier-ignore
    { encoding: 'utf8', env: { ...process.env, FORCE_COLOR: '1', NO_COLOR: '' } },
  ).stdout
  assert.match(reasoned, /^(\x1b\[2m[^\x1b]+\x1b\[0m)+\n/)
  const answer = JSON.parse(
    run(kPrompt, '--max-tokens', '3', '--temperature', '0', '--json'),
  ) as Engine.GenerateResult
  assert.equal(answer.tokens, 3)
  const profiled = run(kPrompt, '--max-tokens', '3', '--temperature', '0', '--profile')
  assert.match(profiled, /Passes over several tokens:\n.*share.*\n(?:.+\n)*\nPasses over one token:\n/)
  assert.match(profiled, /\nThis machine: \d+ GB\/s from memory; GMAC\/s of int8 \d+, /)
  const folder = mkdtempSync(join(tmpdir(), 'ggufscope-'))
  writeFileSync(join(folder, 'schema.json'), '{ "enum": ["honey", 7] }')
  writeFileSync(join(folder, 'grammar.gbnf'), 'root ::= "yes" | "no"')
  assert.match(run(kPrompt, '--schema', join(folder, 'schema.json')), /^("honey"|7)\n/)
  assert.match(run(kPrompt, '--grammar', join(folder, 'grammar.gbnf')), /^(yes|no)\n/)
  rmSync(folder, { recursive: true })
})
