// Every snippet of the README, against the packed package, a real server and the trained sample model.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { startServer, type Server } from '../server/server.ts'
import { kRoot, packedFile, packedRoot } from './packed.ts'

const run = promisify(execFile)
const kModel = join(kRoot, 'tests/fixtures/stories.gguf')
const readme = readFileSync(join(kRoot, 'README.md'), 'utf8')
const blocks = (language: string) =>
  [...readme.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(([, text]) => text!)

let server: Server
let folder: string
before(async () => {
  server = await startServer()
  server.mount('/', join(kRoot, 'tests/fixtures'))
  folder = mkdtempSync(join(packedRoot(), 'readme-'))
  // A package of its own: within ggufscope's, the name would mean the checkout.
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  copyFileSync(kModel, join(folder, 'model.gguf'))
})
after(async () => {
  await server.close()
  rmSync(folder, { recursive: true, force: true })
})

for (const [i, text] of blocks('ts').entries()) {
  test(`TypeScript snippet ${i + 1}`, async () => {
    const local = text.replaceAll(/https:\/\/huggingface\.co\/[^']+/g, `${server.url}/stories.gguf`)
    assert.ok(local !== text || text.includes("open('model.gguf')"))
    const path = join(folder, `snippet-${i}.ts`)
    writeFileSync(path, local)
    const { stdout } = await run(process.execPath, [path], { cwd: folder })
    assert.ok(stdout.trim().length > 20, stdout)
  })
}

const commands = blocks('sh').flatMap((text) => text.trim().split('\n'))
for (const command of commands) {
  test(command, async () => {
    const words = [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!)
    assert.deepEqual(words.splice(0, 2), ['npx', 'ggufscope'])
    const { stdout } = await run(process.execPath, [packedFile('wasm/dist/cli.js'), ...words], {
      cwd: folder,
    })
    assert.ok(stdout.trim().length > 0)
  })
}

test('there are snippets, and the commands are those of package.json', () => {
  assert.ok(blocks('ts').length >= 2 && commands.length >= 6)
  const { scripts } = JSON.parse(readFileSync(join(kRoot, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>
  }
  for (const [, name] of readme.matchAll(/^npm (?:run )?(\w+)/gm)) assert.ok(scripts[name!], name)
})
