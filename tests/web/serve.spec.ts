// The server of npm start: texts and modules arrive compressed in a browser, and ranges as they are.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { kSample } from '../../web/src/lib/file/samples.ts'
import { expect, opened, test } from './site.ts'

const root = join(import.meta.dirname, '../..')
const dist = join(root, 'web/dist')

async function served(run: (url: string) => Promise<void>) {
  const server = spawn(process.execPath, [join(root, 'scripts/serve.ts'), '--port', '0'])
  const ended = new Promise((resolve) => server.on('exit', resolve))
  try {
    const url = await new Promise<string>((resolve, reject) => {
      let text = ''
      server.stdout.on('data', (chunk: Buffer) => {
        text += chunk.toString()
        const [found] = /http:\/\/127\.0\.0\.1:\d+/.exec(text) ?? []
        if (found) resolve(found)
      })
      server.on('exit', (code) => reject(new Error(`The server ended with ${code}.`)))
    })
    await run(url)
  } finally {
    server.kill('SIGTERM')
    await ended
  }
}

interface Answer {
  status: number
  encoding: string | undefined
  vary: string | undefined
  type: string | undefined
  body: Buffer
}

const get = (url: string, headers: Record<string, string>) =>
  new Promise<Answer>((resolve, reject) => {
    request(url, { headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          encoding: response.headers['content-encoding'],
          vary: response.headers.vary,
          type: response.headers['content-type'],
          body: Buffer.concat(chunks),
        }),
      )
    })
      .on('error', reject)
      .end()
  })

test('a browser gets scripts, styles and wasm compressed', async ({ page }) => {
  await served(async (url) => {
    await page.goto(`${url}/?url=${kSample}`)
    await opened(page)
    const sizes = await page.evaluate(() =>
      (performance.getEntriesByType('resource') as PerformanceResourceTiming[]).map((entry) => ({
        name: new URL(entry.name).pathname,
        encoded: entry.encodedBodySize,
        decoded: entry.decodedBodySize,
      })),
    )
    for (const ending of ['.js', '.css', '.wasm']) {
      const large = sizes.filter(({ name, decoded }) => name.endsWith(ending) && decoded > 2000)
      expect(large.length, ending).toBeGreaterThan(0)
      for (const { name, encoded, decoded } of large) expect(encoded / decoded, name).toBeLessThan(0.7)
    }
    const [document] = await page.evaluate(() =>
      (performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]).map((entry) => [
        entry.encodedBodySize,
        entry.decodedBodySize,
      ]),
    )
    expect(document![0]).toBeLessThan(document![1]!)
  })
})

test('what is compressed is equal, and only for those who accept it', async () => {
  await served(async (url) => {
    const [module = ''] = /assets\/[\w-]+\.js/.exec(readFileSync(join(dist, 'index.html'), 'utf8')) ?? []
    for (const path of ['index.html', module, 'manifest.webmanifest']) {
      const file = readFileSync(join(dist, path))
      const packed = await get(`${url}/${path}`, { 'Accept-Encoding': 'gzip, br' })
      expect(packed.encoding, path).toBe('gzip')
      expect(packed.vary).toBe('Accept-Encoding')
      expect(gunzipSync(packed.body).equals(file)).toBe(true)
      for (const accepted of ['identity', 'gzip;q=0, identity']) {
        const plain = await get(`${url}/${path}`, { 'Accept-Encoding': accepted })
        expect(plain.encoding, `${path} for ${accepted}`).toBeUndefined()
        expect(plain.vary).toBe('Accept-Encoding')
        expect(plain.body.equals(file)).toBe(true)
      }
      const part = await get(`${url}/${path}`, { 'Accept-Encoding': 'gzip', Range: 'bytes=1-20' })
      expect([part.status, part.encoding]).toEqual([206, undefined])
      expect(part.body.equals(file.subarray(1, 21))).toBe(true)
    }
    // The files of models are not compressed again.
    const model = await get(`${url}/${kSample}`, { 'Accept-Encoding': 'gzip' })
    expect([model.status, model.encoding]).toEqual([200, undefined])
  })
})

test('a visitor of a missing address sees a page with a way back', async ({ page }) => {
  await served(async (url) => {
    for (const path of ['docs/guides/nothing.html', 'nothing-here']) {
      const response = await page.goto(`${url}/${path}`)
      expect(response!.status(), path).toBe(404)
      await expect(page.getByRole('heading', { level: 1 })).toHaveText('There is no such page')
    }
    await page.getByRole('link', { name: 'To the first page' }).click()
    await expect(page.getByRole('heading', { level: 1 })).toContainText('ggufscope')
    // A program gets the status alone.
    const missing = await get(`${url}/docs/guides/nothing.html`, { Accept: '*/*' })
    expect([missing.status, missing.body.length]).toEqual([404, 0])
  })
})

test('a page of another origin may read the samples, and texts have their types', async ({ page, site }) => {
  await served(async (url) => {
    await site.visit(page)
    const size = await page.evaluate(
      async (address) =>
        (await (await fetch(address, { headers: { Range: 'bytes=0-3' } })).arrayBuffer()).byteLength,
      `${url}/sample.gguf`,
    )
    expect(size).toBe(4)
    const types = {
      'llms.txt': 'text/plain',
      'quick-start.md': 'text/markdown',
      'sitemap.xml': 'application/xml',
    }
    for (const [name, type] of Object.entries(types))
      expect((await get(`${url}/docs/${name}`, {})).type, name).toMatch(type)
  })
})
