// The table "What to touch" of web/docs/architecture.md: for each kind of variant, these edits of a scratch copy are all that
// is needed. They are as many files as the table says, and the copy compiles with them.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { kLong } from '../fixtures/short.ts'
import { kRoot } from './packed.ts'

/** Text that is put before an anchor, or the text of a new file. */
type Edit = readonly [path: string, text: string, anchor?: string]

const kTexts: readonly Edit[] = [
  ['web/src/texts/de/overview.ts', `  'A text of a scratch copy': 'Ein Text',\n`, "  ', {amount} zero'"],
  ['web/src/texts/zh/overview.ts', `  'A text of a scratch copy': '文本',\n`, "  ', {amount} zero'"],
]

const kVariants: Readonly<Record<string, readonly Edit[]>> = {
  'a quantization type': [
    ['core/types/types.hpp', '  kS9_0 = 43,\n', '};\n\nstruct TypeGeometry'],
    [
      'core/types/types.inc',
      `GGUFSCOPE_TYPE(43, "S9_0", 32, 38, false)
GGUFSCOPE_QUANT(kS9_0, s9_0, scalar, none)
GGUFSCOPE_SCALES(kS9_0, 0, 1, kF16, 0)
GGUFSCOPE_FIELDS(kS9_0, {0, 2, 1})\n`,
      '\n#undef GGUFSCOPE_TYPE\n',
    ],
    [
      'core/quant/simple.cpp',
      'void reference_s9_0(const uint8_t* src, float* dst, size_t n) { dst[0] = src[n]; }\n\n',
      '}  // namespace ggufscope\n',
    ],
  ],
  'a llama-like architecture': [
    [
      'core/model/architectures/architectures.cpp',
      '    {.name = "scratch", .rope = kAdjacent},\n',
      '    {.name = "afmoe"',
    ],
    ['core/gguf/tensors.inc', '    {"scratch", "blk.", ""},\n', '    {"llama4", "blk.",'],
  ],
  'a token mixer': [
    ['core/model/mixers/mixers.inc', 'GGUFSCOPE_MIXER(kScratch, kScratchMixer)\n', 'GGUFSCOPE_MIXER(kMamba,'],
    [
      'core/model/mixers/scratch.hpp',
      '// A mixer.\n#pragma once\n#include <cstdint>\nnamespace ggufscope {\nstruct ScratchSizes {\n  uint32_t n = 0;\n};\nstruct ScratchWeights {};\n}\n',
    ],
    [
      'core/model/mixers/scratch.cpp',
      `#include "model/mixers/scratch.hpp"

#include "model/mixer.hpp"

namespace ggufscope {
namespace {
void read(Keys& keys, const Architecture&, Hparams& h) { keys.u32("scratch.n", h.parts.edit<ScratchSizes>().n); }
void plan(const LayerPlan& plan, LayerWeights& weights) {
  if (plan.h.part<ScratchSizes>().n != 0) weights.mixer.create<ScratchWeights>();
}
}  // namespace
const Mixer kScratchMixer{.read = read, .plan = plan};
}  // namespace ggufscope\n`,
    ],
  ],
  'a projector of an mmproj file': [
    [
      'core/vision/projectors.cpp',
      '    {.name = "scratch", .read = read_scratch, .plan = plan_mlp, .project = project_mlp},\n',
      '    {.name = "ldp",',
    ],
    ['core/vision/projectors/rows.hpp', 'ReadKeys read_scratch;\n', 'PlanWeights plan_mlp,'],
    [
      'core/vision/projectors/scratch.cpp',
      '#include "vision/projectors/rows.hpp"\n\nnamespace ggufscope {\nvoid read_scratch(VisionParameters&, Keys&) {}\n}  // namespace ggufscope\n',
    ],
    ['core/gguf/lint/projectors.cpp', '    {"scratch", "mm.0", kWeight},\n', '    {"ldp", "mm.model.mlp.1'],
  ],
  'a pre-tokenizer': [
    [
      'core/gguf/pre_tokenizers.inc',
      'GGUFSCOPE_PRE_TOKENIZER("scratch", kLlama3, 0)\n',
      'GGUFSCOPE_PRE_TOKENIZER("llama3"',
    ],
  ],
  'a lint rule': [
    [
      'core/gguf/lint/header.cpp',
      `void check_scratch(const LintFile& file, FindingList& findings) {
  if (file.gguf.header.version == 9) findings.add(4, "scratch");
}

`,
      'constexpr LintRule kHeaderRules',
    ],
    [
      'core/gguf/lint/header.cpp',
      '    {"scratch", FindingLevel::kNote, check_scratch},\n',
      '    {"version-1",',
    ],
    [
      'web/docs/reference/lint-rules.json',
      '  "scratch": { "meaning": "A rule.", "cure": "None." },\n',
      '  "version-1"',
    ],
  ],
  'a sampler option': [
    [
      'core/engine/sampler_options.inc',
      'SAMPLER_OPTION(float, scratch_p, scratchP, 1.0f, "", "scratch_p", "0..1", "Scratch; 1: off")\n',
      'SAMPLER_OPTION(int32_t, mirostat,',
    ],
    [
      'core/engine/sampler.cpp',
      '  o.scratch_p *= 1;\n',
      '#define SAMPLER_OPTION(type, member, name, value, key, request, range, ...)',
    ],
  ],
  'a method of `Model`': [
    [
      'core/engine/session.hpp',
      '  [[nodiscard]] size_t n_scratch() const { return 1; }\n',
      '  [[nodiscard]] const SamplerOptions& sampler_defaults()',
    ],
    [
      'wasm/bindings_engine.cpp',
      '  [[nodiscard]] double n_scratch() const { return double(session_->n_scratch()); }\n',
      '  [[nodiscard]] Peaks peak_rates() const',
    ],
    [
      'wasm/bindings_engine.cpp',
      '      .function("scratch", &Engine::n_scratch)\n',
      '      .function("peakRates"',
    ],
    ['wasm/src/engine/worker.ts', '    scratch: () => this.engine.scratch(),\n', '    peaks: this.'],
    [
      'wasm/src/engine/model.ts',
      `  async scratch(): Promise<number> {\n    return await this.#engine.call('scratch', undefined)\n  }\n`,
      '  async peaks()',
    ],
    ['wasm/src/engine/types.ts', '  scratch?(): Promise<number>\n', '  peaks(): Promise<Peaks>'],
  ],
  'a command': [
    [
      'wasm/src/cli/commands.ts',
      `  { name: 'scratch', summary: 'a command', load: () => import('./scratch.js') },\n`,
      `  {\n    name: 'tensors',`,
    ],
    [
      'wasm/src/cli/scratch.ts',
      `import type { Command } from './command.js'

export const command: Command = { arguments: [], options: {}, run: async () => 0 }\n`,
    ],
  ],
  'a panel of the viewer': [
    [
      'web/src/panels.ts',
      `  { id: 'scratch', title: 'A text of a scratch copy', load: () => import('./panels/Scratch.svelte') },\n`,
      `  {\n    id: 'edit',`,
    ],
    [
      'web/src/panels/Scratch.svelte',
      `<script lang="ts">
  import { t } from '../lib/language/text'
  import type { PanelProps } from '../lib/page/panel'

  let { file, label }: PanelProps = $props()
</script>

<section aria-label={label}>{t('A text of a scratch copy')} {file.size}</section>\n`,
    ],
    ...kTexts,
  ],
  'a text of the viewer': [
    [
      'web/src/components/Unread.svelte',
      `{#if false}{t('A text of a scratch copy')}{/if}\n`,
      '{#await reading}',
    ],
    ...kTexts,
  ],
  'an error code': [
    ['core/base/error_codes.inc', 'GGUFSCOPE_ERROR(kScratch, "scratch")\n', 'GGUFSCOPE_ERROR(kHtml'],
    [
      'web/src/lib/language/advice.ts',
      `  scratch: { title: 'It is not in this file', todo: 'Check the name.' },\n`,
      '  truncated: {',
    ],
  ],
  'a page of this site': [
    ['web/docs/scratch.md', '# A page\n'],
    ['web/docs/.vitepress/navigation.ts', `    ['Scratch', '/scratch'],\n`, `    ['Recipes', '/recipes'],`],
  ],
}

const scratch = mkdtempSync(join(tmpdir(), 'variants-'))
after(() => rmSync(scratch, { recursive: true, force: true }))

/** Copies the sources, with all edits: those of several variants do not disturb each other. */
function prepare(): void {
  // svelte-check would run vite.config.ts, which copies samples.
  const kept = (path: string) => !/\/(dist|public|performance|results|vite\.config\.ts)$/.test(path)
  for (const name of ['core', 'wasm', 'web', 'scripts'])
    cpSync(join(kRoot, name), join(scratch, name), { recursive: true, filter: kept })
  cpSync(join(kRoot, 'package.json'), join(scratch, 'package.json'))
  symlinkSync(join(kRoot, 'node_modules'), join(scratch, 'node_modules'))
  const done = new Set<string>()
  for (const edit of Object.values(kVariants).flat()) {
    const [path, text, anchor] = edit
    if (done.has(JSON.stringify(edit))) continue
    done.add(JSON.stringify(edit))
    const file = join(scratch, path)
    mkdirSync(dirname(file), { recursive: true })
    if (anchor === undefined) writeFileSync(file, text)
    else {
      const before = readFileSync(file, 'utf8')
      assert.ok(before.includes(anchor), `${path} has no ${anchor}`)
      writeFileSync(
        file,
        before.replace(anchor, () => text + anchor),
      )
    }
  }
}

function run(program: string, ...args: string[]): void {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: scratch, encoding: 'utf8' })
  assert.equal(status, 0, `${program} ${args.join(' ')}\n${stdout}${stderr}`.slice(0, 4000))
}

test('each kind of variant has as many files as the table says, and the table names them', () => {
  const page = readFileSync(join(kRoot, 'web/docs/architecture.md'), 'utf8')
  for (const [kind, edits] of Object.entries(kVariants)) {
    const row = page.split('\n').find((line) => line.startsWith(`| ${kind} |`))
    assert.ok(row, kind)
    const [, , count, touch] = row.split('|').map((cell) => cell.trim())
    const paths = new Set(edits.map(([path]) => path))
    assert.equal(Number(count), paths.size, `${kind}: ${[...paths].join(', ')}`)
    for (const path of paths) {
      const parts = [path, `${dirname(path)}/`, path.split('/').at(-1)!]
      assert.ok(
        parts.some((part) => touch!.includes(`\`${part}\``)) || path.startsWith('web/src/components/'),
        `${kind}: the table does not name ${path}`,
      )
    }
  }
})

test('a copy with one variant of each kind passes the compiler of TypeScript', () => {
  prepare()
  for (const name of [
    'error-codes',
    'standard-keys',
    'sampler-options',
    'memory-rules',
    'block-types',
    'engine-classes',
  ])
    run('node', `scripts/make-${name}.ts`)
  const tsc = join('node_modules', 'typescript-7', 'bin', 'tsc')
  run('node', tsc, '-p', 'wasm/tsconfig.json')
})

test('the components of such a copy pass the compiler of Svelte', { skip: kLong }, () => {
  cpSync(join(scratch, 'wasm/src/element.d.ts'), join(scratch, 'wasm/dist/element.d.ts')) // as the build does
  run(join('node_modules', '.bin', 'svelte-check'), '--workspace', 'web', '--tsconfig', './tsconfig.json')
})

/** The changed files, and those that include a changed table. */
function compiled(): string[] {
  const changed = Object.values(kVariants)
    .flat()
    .map(([path]) => path)
  const tables = changed.filter((path) => path.endsWith('.inc')).map((path) => path.replace('core/', ''))
  const pattern = tables.map((path) => `-e "${path}"`).join(' ')
  const including = execFileSync('sh', ['-c', `grep -rl ${pattern} core wasm --include='*.cpp'`], {
    cwd: scratch,
    encoding: 'utf8',
  })
  return [...new Set([...changed.filter((path) => path.endsWith('.cpp')), ...including.trim().split('\n')])]
}

test('the C++ of such a copy compiles', { skip: kLong }, (t) => {
  if (spawnSync('em++', ['--version']).status !== 0) return t.skip('em++ is not on the PATH')
  const flags =
    '-std=c++23 -msimd128 -fno-exceptions -fno-rtti -Wall -Wextra -Wshadow -Werror -fsyntax-only -Icore -Iwasm -DEMSCRIPTEN_HAS_UNBOUND_TYPE_NAMES=0'
  run('em++', ...flags.split(' '), ...compiled())
})
