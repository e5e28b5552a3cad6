// The workflows of a public host: they name scripts that exist, and pin what they use to exact versions.
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { kRoot } from './packed.ts'

const { scripts } = JSON.parse(readFileSync(join(kRoot, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>
}
const workflows = globSync('.github/workflows/*.yml', { cwd: kRoot }).toSorted()
const allOf = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, one]) => one!)

test('there are workflows for tests, long tests, the site and releases', () => {
  const names = workflows.map((path) => path.replace(/.*\//, ''))
  assert.deepEqual(names, ['docs.yml', 'nightly.yml', 'release.yml', 'test.yml'])
})

for (const path of workflows)
  test(`${path} names what exists, by exact versions`, () => {
    const text = readFileSync(join(kRoot, path), 'utf8')
    const actions = allOf(text, /\buses: (\S+)/g)
    assert.ok(actions.length > 0)
    for (const action of actions) assert.match(action, /^[\w-]+\/[\w-]+@v\d+\.\d+\.\d+$/)
    for (const image of allOf(text, /\bcontainer: (\S+)/g)) assert.match(image, /^\w+:\d+\.\d+\.\d+-\w+$/)
    const named = [...allOf(text, /\bnpm run ([\w:-]+)/g), ...allOf(text, /'(test:\w+)'/g)]
    for (const name of named) assert.ok(scripts[name], `${name} is no script of package.json`)
    for (const file of allOf(text, /\bbash (\S+)/g)) assert.ok(existsSync(join(kRoot, file)), file)
    assert.match(text, /^permissions:\n {2}contents: read$/m)
  })

const forms = globSync('.github/ISSUE_TEMPLATE/*.yml', { cwd: kRoot }).filter(
  (path) => !path.endsWith('config.yml'),
)

test('issue forms have what the host needs, and name commands that exist', () => {
  assert.ok(forms.length >= 3)
  for (const path of forms) {
    const text = readFileSync(join(kRoot, path), 'utf8')
    assert.match(text, /^name: .+\ndescription: .+\nlabels: \[\w+\]\nbody:\n/, path)
    const types = allOf(text, /^ {2}- type: (\w+)$/gm)
    const ids = allOf(text, /^ {4}id: ([a-z]+)$/gm)
    assert.ok(
      types.every((type) => ['textarea', 'input', 'dropdown'].includes(type)) && types.length > 0,
      path,
    )
    assert.equal(new Set(ids).size, types.length, path)
    assert.equal(allOf(text, /^ {6}label: (.+)$/gm).length, types.length, path)
    const commands = readFileSync(join(kRoot, 'wasm/src/cli/commands.ts'), 'utf8')
    for (const command of allOf(text, /npx ggufscope ([a-z]+)/g))
      assert.ok(commands.includes(`name: '${command}'`), `${path}: ${command}`)
  }
})
