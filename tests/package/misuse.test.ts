// Wrong arguments that JavaScript allows: they cause a GgufError that says what to do, never a TypeError of the
// language.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { writeGguf } from '../fixtures/gguf.ts'
import { smallModel } from '../fixtures/models.ts'
import { kRoot, loadNodePackage } from './packed.ts'

const { open, load, quantize, GgufError, ...others } = await loadNodePackage()
const kModel = join(kRoot, 'tests/fixtures/stories.gguf')
const file = await open(kModel)
const model = await load(kModel, { threads: 1 })
after(() => {
  model.close()
  file.close()
})
const [tensor] = file.tensors
const tokenizer = file.tokenizer()
const bare = writeGguf({ ...smallModel(), tensors: [] })

type Any = never
const drain = async (pieces: AsyncIterable<unknown>): Promise<void> => {
  for await (const _ of pieces);
}
const wrong: Readonly<Record<string, readonly [run: () => unknown, message: RegExp, code?: string]>> = {
  'rows: a number': [
    () => file.dequantize(tensor!.name, { rows: 2 as Any }),
    /rows must be \[from, to\], not 2/,
  ],
  'rows: one element': [() => file.read(tensor!.name, { rows: [1] as Any }), /rows must be \[from, to\]/],
  'rows: halves': [() => file.read(tensor!.name, { rows: [0, 0.5] }), /rows must be \[from, to\]/],
  'rows: turned': [() => file.read(tensor!.name, { rows: [2, 1] }), /rows must be \[from, to\]/],
  'rows: null': [() => file.read(tensor!.name, { rows: null as Any }), /rows must be \[from, to\], not null/],
  'no tensor': [() => file.dequantize(undefined as Any), /no tensor "undefined"/, 'not-found'],
  'encode: nothing': [() => tokenizer.encode(undefined as Any), /must be a string or UTF-8 bytes/],
  'encode: a number': [() => tokenizer.encode(5 as Any), /must be a string/],
  'encode: null': [() => tokenizer.encode(null as Any), /must be a string/],
  'encode: an array': [() => tokenizer.encode(['a'] as Any), /must be a string/],
  'generate: nothing': [
    () => drain(model.generate(undefined as Any)),
    /A prompt is a text or its tokens' ids/,
  ],
  'generate: a token that is none': [() => drain(model.generate([1e9])), /1000000000/, 'out-of-range'],
  'generate: an empty prompt': [() => drain(model.generate([])), /the prompt is empty/, 'out-of-range'],
  'chat: no message': [() => drain(model.chat([])), /chat\(\) needs at least one message/],
  'generate: half a token': [() => drain(model.generate([1.5])), /whole number, not 1\.5/],
  'generate: words': [() => drain(model.generate(['Once'] as Any)), /whole number, not Once/],
  'generate: half a seed': [
    () => drain(model.generate('Once', { seed: 0.5 })),
    /seed of generate\(\) must be a whole number of at most 64 bits, not 0\.5/,
  ],
  'embed: nothing': [() => model.embed(undefined as Any), /A prompt is a text/],
  'quantize: an array': [
    () => quantize('Q8_0', [] as Any),
    /takes a type's name and a Float32Array, not Q8_0 and an array/,
  ],
  'quantize: nothing': [() => quantize('Q8_0', undefined as Any), /Float32Array/],
  'quantize: doubles': [() => quantize('Q8_0', new Float64Array(32) as Any), /Float32Array/],
  'quantize: no type': [() => quantize(undefined as Any, new Float32Array(32)), /a type's name/],
  'open: an opened file': [
    () => open(file as Any),
    /takes an address, a Blob or File, bytes or a ByteSource/,
  ],
  'open: nothing': [() => open(undefined as Any), /takes an address/],
  'open: an option by a wrong name': [
    () => open(kModel, { onprogress() {} } as Any),
    /no option "onprogress"/,
  ],
  'load: an option by a wrong name': [
    () => load(kModel, { contextlength: 5 } as Any),
    /no option "contextlength"/,
  ],
  'load: too many threads': [
    () => load(kModel, { threads: 999 }),
    /threads of load\(\) must be a whole number from 1 to 64, not 999/,
  ],
  'load: no thread': [() => load(kModel, { threads: 0 }), /threads of load\(\) must be/],
  'load: a file without weights': [
    () => load(bare),
    /has no weights .*can be opened, not run/,
    'unsupported',
  ],
  'a wasmUrl that is none': [() => open(kModel, { assets: 5 as Any }), /assets/],
}
for (const [what, [run, message, code = 'invalid-argument']] of Object.entries(wrong))
  test(what, async () => {
    await assert.rejects(
      async () => run(),
      (error: unknown) => {
        assert.ok(error instanceof GgufError, String(error))
        assert.match(error.message, message)
        assert.equal(error.code, code)
        return true
      },
    )
  })

// The name may come from a request or from a file that somebody made.
const kLongName = 'x'.repeat(100_000)
const withLongName: Readonly<Record<string, readonly [run: () => unknown, message: RegExp]>> = {
  tensor: [() => file.dequantize(kLongName), /^There is no tensor "x+ … x+"/],
  role: [
    () => drain(model.chat([{ role: kLongName as Any, content: '' }])),
    /^Message 0 has the role "x.* … .*system/s,
  ],
  grammar: [() => drain(model.generate('a', { grammar: `root ::= ${kLongName}` })), /^no rule x+ … x+/],
}
for (const [what, [run, message]] of Object.entries(withLongName))
  test(`a name of 100,000 characters leaves the message readable: ${what}`, async () => {
    await assert.rejects(
      async () => run(),
      ({ message: text }: Error) => {
        assert.ok(text.length < 4000, `${text.length} characters`)
        assert.match(text, message)
        return true
      },
    )
  })

test('load() takes an opened file, which stays open', async () => {
  for (const opened of [
    await open(kModel),
    await open(pathToFileURL(kModel)),
    await open(kModel, { preview: 'auto' }),
  ]) {
    const loaded = await load(opened, { threads: 1 })
    let text = ''
    for await (const piece of loaded.generate('Once upon a time', { seed: 7, maxTokens: 5 }))
      text += piece.text
    assert.notEqual(text, '')
    assert.equal(loaded.file, opened)
    loaded.close()
    assert.equal((await opened.dequantize(tensor!.name, { rows: [0, 1] })).length, tensor!.shape[0])
    opened.close()
  }
})

test('load() takes a path and a file: address', async () => {
  for (const source of [kModel, pathToFileURL(kModel), pathToFileURL(kModel).href])
    (await load(source, { threads: 1 })).close()
})

test('ggufscope/node has what all entries have', async () => {
  for (const entry of ['index', 'edit/index', 'engine/index', 'store/index']) {
    const names = Object.keys(
      (await import(pathToFileURL(join(kRoot, `wasm/dist/${entry}.js`)).href)) as object,
    )
    const found = { open, load, quantize, GgufError, ...others } as Record<string, unknown>
    for (const name of names) assert.ok(name in found, `${entry}: ${name}`)
  }
})

test('a generator returns the result that onDone receives', async () => {
  let told: unknown
  const options = { seed: 1, maxTokens: 3, onDone: (result: unknown) => void (told = result) }
  for (const pieces of [
    model.generate('Once', options),
    model.chat([{ role: 'user', content: 'Hi' }], options),
  ]) {
    let step = await pieces.next()
    while (!step.done) step = await pieces.next()
    assert.equal(step.value.finishReason, 'length')
    assert.equal(step.value.tokens, 3)
    assert.deepEqual(step.value, told)
  }
})
