// `npm start` serves the viewer, the documentation below it, and no other files.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
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
