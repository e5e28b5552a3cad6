// What exists both in the engine's C++ and in TypeScript must agree: options of the sampler, limits of memory.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { rowsOf } from '../../scripts/core-tables.ts'
import { flagOf, samplerOptions } from '../../scripts/sampler-options.ts'
import { kInitialPages, kMaxPages, kMaxPages64 } from '../../wasm/src/engine/memory-pages.ts'
import { kMixtures } from '../../wasm/src/edit/mixtures.ts'
import { kMaxThreads } from '../../wasm/src/engine/threading.ts'
import { kTokenTypes } from '../../wasm/src/text/token-types.ts'
import { engine, stories, textOf } from './engine.ts'
import { kLacks64, kRoot, packedFile } from './packed.ts'

test('every row of the sampler is an option of generate(), of the command line and of requests', async () => {
  using model = await engine.load(stories)
  const { command } = (await import(pathToFileURL(packedFile('wasm/dist/cli/run.js')).href)) as {
    command: { options: Readonly<Record<string, unknown>> }
  }
  const rows = samplerOptions()
  assert.ok(rows.length >= 19)
  for (const row of rows) {
    const { name, isInteger, requestName, choices, min, isMinExcluded, max } = row
    const generate = (value: number) => textOf(model.generate('Once', { [name]: value, maxTokens: 1 }))
    // The ends of the range, -0 and the smallest and largest floats give tokens; what is no float is refused by name.
    const large = isInteger ? 2 ** 31 - 1 : 3.4e38
    const ends = [
      isMinExcluded ? 3e-39 : min,
      max ?? large,
      ...(isInteger || isMinExcluded ? [] : [-0, 1e-45, 1e-46]),
    ]
    for (const value of [...(choices ?? ends), row.default])
      if (value !== undefined) assert.equal(typeof (await generate(value)), 'string', `${name} ${value}`)
    const beyond = isInteger ? [2 ** 31, 0.5, NaN] : [1e39, -1e39, NaN]
    const below = isMinExcluded ? [0, -0, 1e-45] : [min === undefined ? NaN : min - 0.5]
    for (const value of [...below, ...beyond, max === undefined ? Infinity : max + 1])
      await assert.rejects(
        generate(value),
        { code: 'invalid-argument', message: new RegExp(name) },
        `${name} ${value}`,
      )
    assert.ok(flagOf(row).name in command.options, name)
    const request = { prompt: 'Once', max_tokens: 1, [requestName]: row.default }
    assert.equal((await engine.createCompletion(model, request)).usage?.completion_tokens, 1, requestName)
  }
})

/** The limits of the memory that a wasm module imports, in pages of 64 KiB. */
function importedMemory(bytes: Uint8Array): { is64: boolean; initial: number; maximum: number } {
  let at = 8
  const leb = () => {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++]!
      value += (byte & 127) * 2 ** shift
      if (byte < 128) return value
    }
  }
  while (at < bytes.length) {
    const id = bytes[at++]!
    const length = leb()
    if (id !== 2) {
      at += length
      continue
    }
    for (let count = leb(); count > 0; count--) {
      const moduleBytes = leb()
      at += moduleBytes
      const nameBytes = leb()
      at += nameBytes
      const kind = bytes[at++]!
      if (kind === 0) leb()
      else if (kind === 2) {
        const flags = bytes[at++]!
        assert.equal(flags & 3, 3, 'the memory is shared and has a maximum')
        return { is64: (flags & 4) !== 0, initial: leb(), maximum: leb() }
      } else assert.fail(`an import of kind ${kind} is not expected`)
    }
  }
  return assert.fail('no memory is imported')
}

for (const [name, maximum, is64] of [
  ['simd-threads', kMaxPages[0]!, false],
  ['relaxed-threads', kMaxPages[0]!, false],
  ['memory64', kMaxPages64[0]!, true],
] as const)
  test(`the memory of engine-${name}.wasm is what the package makes`, { skip: is64 && kLacks64 }, () => {
    const bytes = readFileSync(packedFile(`wasm/dist/engine/engine-${name}.wasm`))
    assert.deepEqual(importedMemory(bytes), { is64, initial: kInitialPages, maximum })
  })

type Receive = (instance: WebAssembly.Instance, module: WebAssembly.Module) => void
interface SpeechClass {
  languageCodes(): string
  defaultOptions(): Readonly<Record<string, unknown>>
}

/** The class of the engine's module for Whisper models. */
async function speechClass(): Promise<SpeechClass> {
  const { default: create } = (await import(join(kRoot, 'wasm/dist/engine/engine-simd.js'))) as {
    default: (options: object) => Promise<{ Speech: SpeechClass }>
  }
  const bytes = readFileSync(packedFile('wasm/dist/engine/engine-simd.wasm'))
  const { Speech } = await create({
    instantiateWasm(imports: WebAssembly.Imports, receive: Receive) {
      void WebAssembly.instantiate(bytes, imports).then(({ instance, module }) => receive(instance, module))
      return {}
    },
  })
  return Speech
}

test("the documented defaults of transcribe() are the core's", async () => {
  const defaults = (await speechClass()).defaultOptions()
  const types = readFileSync(join(kRoot, 'wasm/src/audio/types.ts'), 'utf8')
  const { command } = (await import(pathToFileURL(packedFile('wasm/dist/cli/transcribe.js')).href)) as {
    command: { options: Readonly<Record<string, { help: string }>> }
  }
  const stated = [...types.matchAll(/Default: (-?[\d.]*\d|true|false)[^/]*\*\/\s+(\w+)\?:/g)].flatMap(
    ([, value, name]) => (name! in defaults ? [[name!, value!] as const] : []),
  )
  assert.ok(stated.length >= 15, stated.join(' '))
  for (const [name, value] of stated)
    assert.equal(defaults[name], /\d/.test(value) ? Math.fround(Number(value)) : value === 'true', name)
  const [, silence] = /default: ([\d.]+)/.exec(command.options['silence-threshold']!.help)!
  assert.equal(defaults['silenceThreshold'], Math.fround(Number(silence)))
})

/** Names of a C++ enumeration without their k, in order. */
function enumerators(path: string, name: string): string[] {
  const text = readFileSync(join(kRoot, path), 'utf8')
  const [, body] = new RegExp(`enum (?:class )?${name} : \\w+ \\{([^}]*)\\}`).exec(text)!
  return [...body!.replaceAll(/\/\/.*/g, '').matchAll(/\bk([A-Z]\w*)/g)].map(([, one]) => one!)
}

/** The strings of a list in a source of the package. */
function listed(path: string, name: string): string[] {
  const text = readFileSync(join(kRoot, path), 'utf8')
  const [, list] = new RegExp(`const ${name}\\b[^=]*= \\[([^\\]]*)\\]`).exec(text)!
  return [...list!.matchAll(/'([\w-]+)'/g)].map(([, one]) => one!)
}

/** Lists of the package, and the enumerations of the core that they follow. */
const kLists = [
  ['wasm/src/header/header.ts', 'kValueTypes', 'core/gguf/header.hpp', 'ValueType'],
  ['wasm/src/header/header.ts', 'kScopes', 'core/gguf/lint/lint.hpp', 'LintScope'],
  ['wasm/src/gpu/plan.ts', 'kStores', 'core/gpu/plan.hpp', 'Store'],
  ['wasm/src/gpu/gpu-model.ts', 'kTextOutputs', 'core/engine/device_pass.hpp', 'TextOutputs'],
] as const

/** Limits of the package, and those of the core. */
const kLimits = [
  ['wasm/src/file/adapter-problems.ts', 'kMaxRank', 'core/model/adapter.cpp', 'kMaxRank'],
  ['wasm/src/file/adapter-problems.ts', 'kMaxFactor', 'core/model/adapter.cpp', 'kMaxFactor'],
  ['wasm/src/audio/wav.ts', 'kMinRate', 'core/media/resample.hpp', 'kMinRate'],
  ['wasm/src/audio/wav.ts', 'kMaxRate', 'core/media/resample.hpp', 'kMaxRate'],
  ['wasm/src/media/rgb.ts', 'kMaxPixels', 'core/media/image.hpp', 'kMaxImagePixels'],
] as const

/** The value of a constant that is a number or a power of two. */
function constant(path: string, name: string): number {
  const text = readFileSync(join(kRoot, path), 'utf8').replaceAll(/uint64_t\{1\}|(?<=\d)u\b/g, (part) =>
    part === 'u' ? '' : '1',
  )
  const [, first, operator, power] = new RegExp(`\\b${name} = ([\\d.e]+)f?(?: (<<|\\*\\*) (\\d+))?`).exec(
    text,
  )!
  assert.ok(operator !== '<<' || first === '1', name)
  return operator ? 2 ** Number(power) : Number(first)
}

test('limits that stand in the core and in TypeScript are equal', () => {
  for (const [path, name, core, there] of kLimits)
    assert.equal(constant(path, name), constant(core, there), name)
})

test('lists that stand in the core and in TypeScript are equal', async () => {
  const plain = (names: readonly string[]) => names.map((name) => name.replaceAll('-', '').toLowerCase())
  assert.deepEqual(plain(kTokenTypes), plain(enumerators('core/text/tokenizer.hpp', 'TokenType')))
  for (const [path, name, core, enumeration] of kLists)
    assert.deepEqual(plain(listed(path, name)), plain(enumerators(core, enumeration)), name)
  const roles = readFileSync(join(kRoot, 'wasm/bindings_text.cpp'), 'utf8')
  const ids = [.../ids_ = \{([^}]*)\}/.exec(roles)![1]!.matchAll(/s\.(\w+)/g)].map(([, id]) =>
    id!.replace('_', ''),
  )
  const names = plain(listed('wasm/src/text/tokenizer.ts', 'kRoles'))
  assert.deepEqual(
    ids,
    names.map((name, i) => name.slice(0, ids[i]!.length)),
  )
  assert.deepEqual(engine.speechLanguages, (await speechClass()).languageCodes().split(' '))
  const [, threads] = /kMaxThreads = (\d+)/.exec(readFileSync(join(kRoot, 'core/nn/pool.hpp'), 'utf8'))!
  assert.equal(kMaxThreads, Number(threads))
})

test('the mixtures that quantize() makes are file types of the core, with the same type of most tensors', () => {
  const table = 'core/types/types.inc'
  const types = rowsOf(table, /^GGUFSCOPE_TYPE\((\d+), "(\w+)",/gm)
  const fileTypes = rowsOf(table, /^GGUFSCOPE_FILE_TYPE\((\d+), "(\w+)", (\d+),/gm)
  for (const [name, { fileType, type }] of Object.entries(kMixtures)) {
    const [, named, typeId] = fileTypes.find(([id]) => Number(id) === fileType)!
    assert.equal(named, name)
    assert.equal(types.find(([id]) => id === typeId)![1], type, name)
  }
})

test('the limits of memory are those of the modules', () => {
  const { memory32, memory64, device } = engine.memoryLimits()
  assert.equal(memory32, kMaxPages[0]! * 65536)
  // A module with a memory of 64-bit addresses.
  const has64 = WebAssembly.validate(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 5, 3, 1, 4, 1]))
  assert.equal(memory64, has64 ? kMaxPages64[0]! * 65536 : undefined)
  assert.equal(device, (navigator as { deviceMemory?: number }).deviceMemory)
})
