// The audit: what it finds, how much it reads, and its reports against the schemas of SARIF and CycloneDX.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { Ajv, type ValidateFunction } from 'ajv'
import formats from 'ajv-formats'
import { writeGguf, type Model, type Tensor, type Value } from '../fixtures/gguf.ts'
import { array, floatBytes, text, u32 } from '../fixtures/models.ts'
import { startServer } from '../server/server.ts'
import { kRoot, loadNodePackage } from './packed.ts'
import { runCli } from './run-cli.ts'

const { audit, open, toCycloneDx, toMarkdown, toSarif } = await loadNodePackage()

const folder = mkdtempSync(join(tmpdir(), 'audit-'))
after(() => rmSync(folder, { recursive: true }))
const run = (...args: string[]) => runCli(['audit', ...args], { cwd: folder })
const write = (name: string, model: Model): string => {
  writeFileSync(join(folder, name), writeGguf(model))
  return name
}

const kInvisible = 'a\u200bmodel'
const provenance: [string, Value][] = [
  ['general.license', text('apache-2.0')],
  ['general.author', text('Ada [x](http://a.example) @all <img>')],
  ['general.organization', text('Bees | Honey')],
  ['general.version', text('1.1')],
  ['general.description', text('`code`\nof two lines')],
  ['general.url', text('https://example.org/bees')],
  ['general.base_model.count', u32(1)],
  ['general.base_model.0.name', text('Hive')],
  ['general.base_model.0.organization', text('Bees')],
  ['general.base_model.0.repo_url', text('https://huggingface.co/bees/hive')],
  ['general.dataset.count', u32(1)],
  ['general.dataset.0.name', text('Flowers')],
  ['general.dataset.0.repo_url', text('https://huggingface.co/datasets/bees/flowers')],
  ['general.tags', array('string', ['text', 'bees'])],
]
const tensor = (name: string, seed: number): Tensor => {
  return { name, shape: [64, 4], type: 'F32', data: floatBytes(256, seed) }
}
const model = (tensors: Tensor[], more: [string, Value][] = provenance): Model => ({
  metadata: [
    ['general.architecture', text('tiny-unknown')],
    ['general.name', text('Honey')],
    ...more,
    [
      'tokenizer.chat_template',
      text('{% for m in messages %}{{ m.content }}{% endfor %}{{ messages.__class__ }}'),
    ],
  ],
  tensors,
})
write('a.gguf', model([tensor('x.weight', 1), tensor('y.weight', 2), tensor('again.weight', 1)]))
write(
  'b.gguf',
  model([tensor('y.weight', 2), tensor('z.weight', 3)], [['general.description', text(kInvisible)]]),
)
writeFileSync(join(folder, 'cut.gguf'), 'GGUF')

const schemaOf = (path: string): Record<string, unknown> =>
  JSON.parse(readFileSync(join(kRoot, 'node_modules', path), 'utf8')) as Record<string, unknown>

/** The published schema of SARIF 2.1.0, of draft 4, whose keywords mean the same here. */
function sarifValidator(): ValidateFunction {
  const {
    $schema: _,
    id: __,
    ...schema
  } = schemaOf('@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json')
  return formats.default(new Ajv({ strict: false, allErrors: true, unicodeRegExp: false })).compile(schema)
}

/** The published schema of CycloneDX 1.6, with those that it refers to. */
function cyclonedxValidator(): ValidateFunction {
  const of = (name: string) =>
    schemaOf(`@cyclonedx/cyclonedx-library/res/schema/${name}.SNAPSHOT.schema.json`)
  const ajv = formats.default(new Ajv({ strict: false, allErrors: true }))
  for (const name of ['iri-reference', 'idn-email']) ajv.addFormat(name, true)
  for (const name of ['spdx', 'jsf-0.82', 'cryptography-defs'])
    ajv.addSchema({ ...of(name), $id: `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json` })
  return ajv.compile(of('bom-1.6'))
}

function mustBeValid(validate: ValidateFunction, value: unknown): void {
  assert.ok(validate(value), JSON.stringify(validate.errors?.slice(0, 5), null, 1))
}

interface Sarif {
  runs: [
    {
      tool: { driver: { name: string; version: string; rules: { id: string }[] } }
      artifacts: { location: { uri: string }; hashes?: Record<string, string> }[]
      results: {
        ruleId: string
        level: string
        locations: [
          { physicalLocation: { artifactLocation: { uri: string }; region?: { byteOffset: number } } },
        ]
      }[]
    },
  ]
}
interface Bom {
  components: {
    name: string
    licenses?: object[]
    hashes?: { alg: string; content: string }[]
    components?: { name: string; hashes: object[] }[]
    pedigree?: { ancestors: { name: string }[] }
  }[]
}

test('SARIF is valid, and has each finding at its byte', async () => {
  const { status } = await run('a.gguf', 'b.gguf', 'cut.gguf', '--sarif', 'out.sarif', '--hash', 'sha256')
  assert.equal(status, 1)
  const sarif = JSON.parse(readFileSync(join(folder, 'out.sarif'), 'utf8')) as Sarif
  mustBeValid(sarifValidator(), sarif)
  const [{ tool, artifacts, results }] = sarif.runs
  assert.equal(tool.driver.name, 'ggufscope')
  assert.deepEqual(
    artifacts.map(({ location }) => location.uri),
    ['a.gguf', 'b.gguf', 'cut.gguf'],
  )
  const sha256 = createHash('sha256')
    .update(readFileSync(join(folder, 'a.gguf')))
    .digest('hex')
  assert.equal(artifacts[0]!.hashes!['sha-256'], sha256)
  const escape = results.filter(({ ruleId }) => ruleId === 'template-escape')
  assert.equal(escape.length, 2, 'one finding for one fault')
  const { level, locations } = escape[0]!
  assert.equal(level, 'error')
  const { artifactLocation, region } = locations[0].physicalLocation
  assert.equal(artifactLocation.uri, 'a.gguf')
  const bytes = readFileSync(join(folder, 'a.gguf'))
  assert.equal(bytes.subarray(region!.byteOffset).toString('utf8', 0, 19), ' messages.__class__')
  const codes = (file: string) =>
    results
      .filter((one) => one.locations[0].physicalLocation.artifactLocation.uri === file)
      .map(({ ruleId }) => ruleId)
  assert.ok(!codes('a.gguf').includes('provenance-missing'))
  assert.equal(codes('b.gguf').filter((code) => code === 'provenance-missing').length, 3)
  assert.ok(codes('b.gguf').includes('invisible-text'))
  assert.ok(
    codes('a.gguf').includes('duplicate-tensor-data') && !codes('b.gguf').includes('duplicate-tensor-data'),
  )
  assert.deepEqual(codes('cut.gguf'), ['truncated'])
  for (const { ruleId } of results) assert.ok(tool.driver.rules.some(({ id }) => id === ruleId))
})

test('CycloneDX is valid, and names licenses, hashes and origins', async () => {
  const { status, out, err } = await run(
    ...['a.gguf', 'b.gguf', 'cut.gguf', '--cyclonedx', '-', '--fail-on', 'never'],
    ...['--hash', 'sha256', '--hash', 'xxh64', '--hash', 'uuid'],
  )
  assert.equal(status, 0, err)
  const bom = JSON.parse(out) as Bom
  mustBeValid(cyclonedxValidator(), bom)
  const [a, b, cut] = bom.components
  assert.deepEqual([a!.name, b!.name, cut!.name], ['Honey', 'Honey', 'cut.gguf'])
  assert.deepEqual(a!.licenses, [{ license: { id: 'Apache-2.0' } }])
  assert.equal(b!.licenses, undefined)
  assert.equal(
    a!.hashes![0]!.content,
    createHash('sha256')
      .update(readFileSync(join(folder, 'a.gguf')))
      .digest('hex'),
  )
  assert.deepEqual(
    a!.components!.map(({ name }) => name),
    ['x.weight', 'y.weight', 'again.weight'],
  )
  assert.deepEqual(
    a!.pedigree!.ancestors.map(({ name }) => name),
    ['Hive'],
  )
})

test('schemas refuse what is wrong', () => {
  assert.ok(!sarifValidator()({ version: '2.1.0', runs: [{ tool: {} }] }))
  assert.ok(
    !cyclonedxValidator()({ bomFormat: 'CycloneDX', specVersion: '1.6', components: [{ name: 'x' }] }),
  )
})

test('Markdown shows no link, image or mention of the file', async () => {
  const { out } = await run('a.gguf', 'b.gguf', '--markdown', '-')
  assert.match(out, /^# Audit\n\n\d+ errors, \d+ warnings, \d+ notes in 2 files\.$/m)
  assert.match(
    out,
    /\| general\.author \| Ada &#91;x&#93;&#40;http&#58;\/\/a\.example&#41; &#64;all &#60;img&#62; \|/,
  )
  assert.match(out, /Bees &#124; Honey/)
  assert.match(out, /\| general\.description \| &#96;code&#96; of two lines \|/)
  assert.doesNotMatch(out, /<img|@all|\]\(/)
})

test('text and JSON, and the level that fails', async () => {
  const shown = await run('a.gguf', '--hash', 'uuid')
  assert.match(shown.out, /error +template-escape +@\d+ +line 1: code/)
  assert.match(shown.out, /general\.license: apache-2\.0/)
  assert.match(shown.out, /uuid of its tensor data: [0-9a-f-]{36}/)
  const { files, duplicates } = JSON.parse(
    (await run('a.gguf', 'b.gguf', '--json', '--hash', 'xxh64')).out,
  ) as {
    files: { name: string; findings: { code: string; subject: string }[]; license?: string }[]
    duplicates: { tensors: { file: number; name: string }[] }[]
  }
  assert.deepEqual([files[0]!.name, files[0]!.license, files[1]!.name], ['a.gguf', 'apache-2.0', 'b.gguf'])
  assert.deepEqual(
    duplicates.map(({ tensors }) => tensors.map(({ file, name }) => `${file}:${name}`)),
    [
      ['0:x.weight', '0:again.weight'],
      ['0:y.weight', '1:y.weight'],
    ],
  )
  const clean = write('clean.gguf', {
    metadata: [
      ['general.architecture', text('llama')],
      ['general.type', text('vocab')],
    ],
  })
  const status = async (...args: string[]) => (await run(clean, ...args)).status
  assert.deepEqual([await status(), await status('--fail-on', 'error')], [0, 0])
  const noted = write('noted.gguf', model([], [['general.description', text(kInvisible)]]))
  const of = async (level: string) => (await run(noted, '--fail-on', level)).status
  assert.deepEqual([await of('never'), await of('error')], [0, 1])
  assert.equal((await run('missing.gguf')).status, 1)
  assert.equal((await run('a.gguf', '--sarif', '-', '--json')).status, 2)
  assert.equal((await run('a.gguf', '--sarif', 'a.gguf', '--force')).status, 2)
  assert.match((await run('a.gguf', '--markdown', 'clean.gguf')).err, /file-exists/)
})

test('a damaged file has no hashes, and the others have theirs', async () => {
  const whole = readFileSync(join(folder, 'b.gguf'))
  writeFileSync(join(folder, 'short.gguf'), whole.subarray(0, whole.length - 40))
  const { out } = await run('short.gguf', 'b.gguf', '--hash', 'sha1', '--json')
  const { files } = JSON.parse(out) as { files: { findings: { code: string }[]; hashes?: object }[] }
  assert.ok(files[0]!.findings.some(({ code }) => code === 'not-hashed'))
  assert.deepEqual([files[0]!.hashes, files[1]!.hashes !== undefined], [undefined, true])
})

test('without hashes only the header is read over HTTP', async () => {
  await using server = await startServer()
  const large = writeGguf(model([{ name: 'x.weight', shape: [1024, 4096], type: 'F32' }]))
  server.add('/large.gguf', large)
  using file = await open(`${server.url}/large.gguf`)
  const { files } = await audit(file)
  assert.ok(files[0]!.findings.some(({ code }) => code === 'template-escape'))
  const { bytes } = server.counts('/large.gguf')
  assert.ok(bytes < large.length / 2, `${bytes} of ${large.length}`)
})

test('what load() refuses is found, and a call can be aborted', async () => {
  const refused = writeGguf({
    metadata: [
      ['general.architecture', text('llama')],
      ...(
        [
          ['block_count', 1],
          ['embedding_length', 64],
          ['feed_forward_length', 64],
          ['attention.head_count', 3],
          ['context_length', 64],
        ] as const
      ).map(([key, value]): [string, Value] => [`llama.${key}`, u32(value)]),
    ],
    tensors: [{ name: 'token_embd.weight', shape: [64, 8], type: 'F32' }],
  })
  using file = await open(refused)
  const of = async (load: boolean) => (await audit(file, { load })).files[0]!.findings
  const withLoad = await of(true)
  assert.ok(
    withLoad.some(({ level }) => level === 'error'),
    JSON.stringify(withLoad),
  )
  assert.ok(!(await of(false)).some(({ subject }) => subject === 'load'))
  await assert.rejects(audit(file, { signal: AbortSignal.abort() }), { name: 'AbortError' })
  const stop = new AbortController()
  await assert.rejects(audit(file, { hash: 'sha1', signal: stop.signal, onProgress: () => stop.abort() }), {
    name: 'AbortError',
  })
  assert.throws(() => toSarif({} as never), { code: 'invalid-argument' })
  assert.throws(() => toMarkdown(undefined as never), { code: 'invalid-argument' })
  assert.throws(() => toCycloneDx({ files: [], duplicates: [] }, { now: new Date(NaN) }), {
    code: 'invalid-argument',
  })
})
