// `npm start` serves the viewer, the documentation below it, and no other files.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { kRoot } from './packed.ts'

/** Requests a path as it is written. fetch() would normalize "/docs/../x". */
function ask(port: number, path: string): Promise<{ status: number; location: string | undefined }> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path }, (response) => {
      response.resume()
      resolve({ status: response.statusCode ?? 0, location: response.headers.location })
    })
    asked.on('error', reject).end()
  })
}

test('folders serve their index.html, and an address without a slash redirects', async () => {
  const root = mkdtempSync(join(tmpdir(), 'ggufscope-serve-'))
  const inside = join(root, 'site')
  mkdirSync(join(inside, 'docs'), { recursive: true })
  for (const path of ['index.html', 'docs/index.html', 'docs/page.html', '../secret.html'])
    writeFileSync(join(inside, path), '<!doctype html>')
  const server = spawn(process.execPath, [join(kRoot, 'scripts/serve.ts'), '--port', '0', '--root', inside])
  try {
    const line = await new Promise<string>((resolve) =>
      server.stdout.once('data', (data) => resolve(String(data))),
    )
    const port = Number(/127\.0\.0\.1:(\d+)/.exec(line)?.[1])
    const seen: [string, number, string?][] = []
    for (const path of ['/', '/docs/', '/docs/page.html', '/docs', '//docs', '/nothing', '/../secret.html']) {
      const { status, location } = await ask(port, path)
      seen.push(location === undefined ? [path, status] : [path, status, location])
    }
    assert.deepEqual(seen.slice(0, 4), [
      ['/', 200],
      ['/docs/', 200],
      ['/docs/page.html', 200],
      ['/docs', 301, '/docs/'],
    ])
    // A redirect never leads to another host.
    assert.ok(seen[4]![2] === undefined || seen[4]![2] === '/docs/')
    assert.deepEqual(
      seen.slice(5).map(([, status]) => status >= 400),
      [true, true],
    )
    // Texts are compressed; ranges are not.
    const page = await fetch(`http://127.0.0.1:${port}/docs/page.html`)
    assert.equal(page.headers.get('content-encoding'), 'gzip')
    assert.equal(await page.text(), '<!doctype html>')
    const part = await fetch(`http://127.0.0.1:${port}/docs/page.html`, { headers: { range: 'bytes=2-8' } })
    assert.deepEqual([part.status, part.headers.get('content-encoding')], [206, null])
    assert.equal(await part.text(), 'doctype')
  } finally {
    server.kill()
    rmSync(root, { recursive: true })
  }
})

test('what is built meanwhile is waited for, and the build ends with the server', async () => {
  const root = mkdtempSync(join(tmpdir(), 'ggufscope-serve-'))
  mkdirSync(join(root, 'docs'))
  writeFileSync(join(root, 'index.html'), '<!doctype html>')
  const build = `until [ -e go ]; do sleep 0.05; done; echo > docs/late.html; until [ -e end ]; do sleep 0.05; done`
  for (const isEnded of [true, false]) {
    const args = [join(kRoot, 'scripts/serve.ts'), '--port', '0', '--root', root, '--meanwhile', build]
    const server = spawn(process.execPath, args, { cwd: root })
    try {
      const line = await new Promise<string>((resolve) =>
        server.stdout.once('data', (data) => resolve(String(data))),
      )
      const port = Number(/127\.0\.0\.1:(\d+)/.exec(line)?.[1])
      let isAnswered = false
      const late = ask(port, '/docs/late.html').finally(() => (isAnswered = true))
      // Other files are not waited for.
      assert.equal((await ask(port, '/')).status, 200)
      assert.equal((await ask(port, '/nothing.html')).status, 404)
      assert.equal(isAnswered, false)
      writeFileSync(join(root, 'go'), '')
      assert.equal((await late).status, 200)
      if (isEnded) {
        const never = ask(port, '/docs/never.html')
        writeFileSync(join(root, 'end'), '')
        assert.equal((await never).status, 404)
      } else {
        server.kill()
        await once(server, 'close') // when the build, too, has closed its output
      }
    } finally {
      server.kill()
      for (const name of ['go', 'end', 'docs/late.html']) rmSync(join(root, name), { force: true })
    }
  }
  rmSync(root, { recursive: true })
})

test("an engine's stand-in starts the engine once it is there", async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ggufscope-later-'))
  const standIn = readFileSync(join(kRoot, 'scripts/engine-later.js'), 'utf8').replaceAll('NAME', 'engine-x')
  writeFileSync(join(folder, 'stand-in.mjs'), standIn)
  writeFileSync(
    join(folder, 'engine-x.js'),
    'module.exports = (options) => Promise.resolve({ started: options })',
  )
  Object.assign(globalThis, { location: pathToFileURL(join(folder, 'engine-worker-1234.js')) })
  try {
    const { default: create } = (await import(pathToFileURL(join(folder, 'stand-in.mjs')).href)) as {
      default: (options: object) => Promise<object>
    }
    assert.deepEqual(await create({ wasmMemory: 1 }), { started: { wasmMemory: 1 } })
  } finally {
    Reflect.deleteProperty(globalThis, 'location')
    rmSync(folder, { recursive: true })
  }
})
