// Lint compiles and renders chat templates; an empty template is ChatML, and a name is the format of that name.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { GgufFile } from 'ggufscope'
import type * as Ai from 'ggufscope/ai'
import type * as Engine from 'ggufscope/engine'
import { writeHeader } from '../fixtures/gguf.ts'
import { skipWithout } from '../fixtures/skip-without.ts'
import { kRoot, kShared, loadNodePackage, packedFile } from './packed.ts'

const { open } = await loadNodePackage()
const folder = mkdtempSync(join(tmpdir(), 'lint-templates-'))
after(() => rmSync(folder, { recursive: true }))

const kKey = 'tokenizer.chat_template'
const bytesWith = (templates: Readonly<Record<string, string>>): Uint8Array =>
  writeHeader({
    metadata: Object.entries(templates).map(([key, value]) => [key, { type: 'string', value }]),
  }).header
const fileWith = async (template: string): Promise<GgufFile> => await open(bytesWith({ [kKey]: template }))

const kGood = "{% for m in messages %}{{ m['content'] }}{% endfor %}"
const kNeedsTools = '{% if not tools %}{{ raise_exception("no tools") }}{% endif %}' + kGood
const kNeedsDocuments = '{% for d in documents %}{{ d.text }}{% endfor %}' + kGood

test('templates that render are clean, also those that need tools or documents', async () => {
  for (const template of [kGood, kNeedsTools, kNeedsDocuments]) {
    using file = await fileWith(template)
    assert.deepEqual(await file.lintTemplates(), [], template)
  }
})

test('messages that a template leaves out are named', async () => {
  const each = (what: string) => `{% for m in messages %}${what}{% endfor %}`
  const cases: [template: string, lost: RegExp | undefined][] = [
    [each("{% if m.role == 'assistant' %}{{ m.content }}{% endif %}"), /lacks the user's message/],
    [each('{{ m.contnet }}'), /lacks the user's message/],
    [each('{{ m.content[:3] }}'), /lacks the user's message/],
    ['{% for m in conversation %}{{ m.content }}{% endfor %}', /lacks the user's message/],
    ['You are helpful.', /lacks the user's message/],
    ['{{ messages[-1].content }}', /lacks the user's first message and the assistant's message of/],
    ['{{ messages[0].content }}', /lacks the assistant's message and the user's last message of/],
    [each("{% if m.role == 'user' %}{{ m.content }}{% endif %}"), /lacks the assistant's message of/],
    [each('{% for c in m.content %}{{ c.text }}{% endfor %}'), undefined],
    // A template for one turn may refuse a longer conversation.
    [
      "{% if messages|length > 1 %}{{ raise_exception('one') }}{% endif %}{{ messages[0].content }}",
      undefined,
    ],
  ]
  for (const [template, lost] of cases) {
    using file = await fileWith(template)
    const findings = await file.lintTemplates()
    assert.equal(findings.length, lost ? 1 : 0, template)
    if (!lost) continue
    assert.deepEqual([findings[0]!.level, findings[0]!.code], ['note', 'template-drops-message'])
    assert.match(findings[0]!.message, lost, template)
  }
})

test('a finding has the line and column of renderChat(), and the byte offset of that place', async () => {
  const cases: [template: string, line: number, column: number, there: string][] = [
    ['é{{ messages[0].content }}\n{% if x %}é{{ y z }}', 2, 17, 'z }}'],
    ['{%- for m in messages -%}\\n{{ \\"a\\" }}{% endfor %}', 1, 31, '\\"a'],
    ['{{ .System }}', 1, 4, '.System'],
    ['{{ 1 / 0 }}', 1, 6, '/ 0'],
  ]
  for (const [template, line, column, there] of cases)
    for (const key of [kKey, `${kKey}.rag`]) {
      const bytes = bytesWith({ [key]: template })
      using file = await open(bytes)
      const [finding, ...others] = await file.lintTemplates()
      assert.ok(finding && others.length === 0, template)
      assert.deepEqual([finding.level, finding.code], ['error', 'template-error'], template)
      await assert.rejects(file.renderChat([{ role: 'user', content: 'Hi' }]), {
        code: 'chat-template',
        line,
        column,
      })
      assert.ok(finding.message.includes(`line ${line}, column ${column}`), finding.message)
      assert.equal(finding.message.startsWith(`${key}: `), key !== kKey)
      const text = new TextDecoder().decode(bytes.subarray(finding.offset))
      assert.ok(text.startsWith(there), `${template}: ${text}`)
    }
})

test('templates without effect', async () => {
  const cases: [template: string, code: string, message: RegExp][] = [
    ['', 'template-stand-in', /empty.*chatml/],
    [' \n', 'template-stand-in', /empty.*chatml/],
    ['llama3', 'template-stand-in', /llama3/],
    ['no template', 'template-drops-message', /lacks the user's message/],
    ['{# a comment #}', 'template-drops-message', /lacks/],
    ['{% for i in range(100000000) %}{{ i }}{% endfor %}', 'template-error', /more than 100000/],
    ['{{ range .Messages }}{{ end }}', 'template-drops-message', /lacks/],
  ]
  for (const [template, code, message] of cases) {
    using file = await fileWith(template)
    const findings = await file.lintTemplates()
    assert.deepEqual(
      findings.map((one) => one.code),
      [code],
      template,
    )
    assert.match(findings[0]!.message, message)
  }
  await assert.rejects((await fileWith(kGood)).lintTemplates({ signal: AbortSignal.abort() }), {
    name: 'AbortError',
  })
})

test('the command lint ends with status 1, and names line and column; so does the MCP tool', () => {
  const path = join(folder, 'broken.gguf')
  writeFileSync(path, bytesWith({ [kKey]: '{% for m in %}' }))
  const { status, stdout } = spawnSync(process.execPath, [packedFile('wasm/dist/cli.js'), 'lint', path], {
    encoding: 'utf8',
  })
  assert.equal(status, 1, stdout)
  assert.match(stdout, /template-error.*line 1, column 13/)
  const request = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'lint', arguments: { file: path } },
  }
  const served = spawnSync(process.execPath, [packedFile('wasm/dist/cli.js'), 'serve', '--mcp'], {
    encoding: 'utf8',
    input: `${JSON.stringify(request)}\n`,
  })
  assert.match(served.stdout, /template-error.*line 1, column 13/, served.stderr)
})

const kPublished = join(kShared, 'templates')
test('published templates are clean', { skip: skipWithout(kPublished) }, async () => {
  for (const name of readdirSync(kPublished)) {
    using file = await fileWith(readFileSync(join(kPublished, name), 'utf8'))
    assert.deepEqual(await file.lintTemplates(), [], name)
  }
})

describe('known formats in place of a template', () => {
  const kMessages = [{ role: 'user', content: 'Hi' }]
  const recorded = JSON.parse(
    readFileSync(join(kRoot, 'tests/fixtures/known-formats.json'), 'utf8'),
  ) as Readonly<Record<string, Readonly<Record<string, string>>>>

  test('an empty template is ChatML, with a warning', async () => {
    const cases: readonly [template: string, warning: RegExp][] = [
      ['', /empty/],
      [' \n\t', /empty/],
      ['\ufeff', /empty/],
      ['{# nothing #}\n{#- more\n#}', /empty/],
      ['chatml', /only a name/],
      [' chatml\n', /only a name/],
      ['ChatML', /only a name/],
    ]
    for (const [template, reason] of cases) {
      using file = await fileWith(template)
      assert.equal(
        await file.renderChat(kMessages),
        '<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n',
        JSON.stringify(template),
      )
      const { source, warning, text } = file.chatTemplates.get('default')!
      assert.equal(source, 'chatml')
      assert.match(warning!, reason)
      assert.ok(text.includes('<|im_start|>'))
    }
    using named = await open(bytesWith({ [kKey]: kGood, [`${kKey}.tool_use`]: ' ' }))
    assert.equal(await named.renderChat(kMessages, { tools: [{}] }), 'Hi')
    assert.equal(named.chatTemplates.get('default')!.warning, undefined)
  })

  test('a template that is the name of a built-in format is that format', async () => {
    for (const [name, prompts] of Object.entries(recorded)) {
      using file = await fileWith(name)
      const what = Object.keys(prompts).find((one) => one.startsWith('user') && one.includes(' '))!
      assert.equal(await file.renderChat(kMessages), prompts[what], name)
      assert.equal(file.chatTemplates.get('default')!.source, name)
    }
    using other = await fileWith('honest')
    assert.equal(await other.renderChat(kMessages), 'honest')
    assert.equal(other.chatTemplates.get('default')!.source, 'file')
  })

  test('chat(), the AI SDK and the command run warn of it', async () => {
    const { load } = (await import(
      pathToFileURL(packedFile('wasm/dist/engine/index.js')).href
    )) as typeof Engine
    const { createGgufscope } = (await import(
      pathToFileURL(packedFile('wasm/dist/ai/index.js')).href
    )) as typeof Ai
    const stories = join(kRoot, 'tests/fixtures/stories.gguf')
    const cli = packedFile('wasm/dist/cli.js')
    const path = join(folder, 'empty-template.gguf')
    const set = spawnSync(process.execPath, [cli, 'set', stories, `${kKey}= `, '--output', path], {
      encoding: 'utf8',
    })
    assert.equal(set.status, 0, set.stderr)
    for (const [model, warned] of [
      [path, true],
      [stories, false],
    ] as const) {
      using loaded = await load(new Uint8Array(readFileSync(model)))
      let result: Engine.ChatResult | undefined
      for await (const _ of loaded.chat(kMessages, { maxTokens: 1, onDone: (one) => (result = one) }));
      assert.equal(result!.warnings.length, warned ? 1 : 0)
      const ai = createGgufscope({ stories: loaded })('stories')
      const prompt = [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }] as const
      const answer = await ai.doGenerate({ prompt, maxOutputTokens: 1 })
      assert.deepEqual(
        answer.warnings,
        result!.warnings.map((message) => ({ type: 'other', message })),
      )
      const ran = spawnSync(process.execPath, [cli, 'run', model, '--chat', 'Hi', '--max-tokens', '1'], {
        encoding: 'utf8',
      })
      assert.equal(ran.status, 0, ran.stderr)
      assert.equal(/template is empty: the format chatml/.test(ran.stderr), warned, ran.stderr)
    }
  })
})
