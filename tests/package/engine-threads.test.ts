// Who creates the engine's threads, and that they end: in Chromium, Firefox and WebKit, and in Node.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { kBrowserNames, missing, startBrowser } from '../browsers/drive.ts'
import { modelBytes } from '../everywhere/expected.ts'
import { startServer } from '../server/server.ts'
import { skipWithout } from '../fixtures/skip-without.ts'
import { kRoot, packedFile } from './packed.ts'

const kModel = join(kRoot, 'tests/fixtures/stories.gguf')
const server = await startServer({ isolated: true, cors: false })
server.mount('/package', packedFile('.'))
server.add('/index.html', '<!doctype html><title>test</title><link rel="icon" href="data:,">')
server.add('/stories.gguf', modelBytes())
after(() => server.close())

for (const name of kBrowserNames) {
  const skip = missing(name)
  // In Firefox, workers that create workers can stop for good (web/docs/guides/threads.md).
  test(`${name}: the engine's threads are workers of the page, and all end`, { skip }, async () => {
    const browser = await startBrowser(name)
    try {
      const page = await browser.newPage()
      await page.goto(`${server.url}/index.html`)
      const seen = await page.evaluate(async () => {
        const alive = new Set<Worker>()
        let onMade = (_: number): void => {}
        let broken = 0
        let made = 0
        globalThis.Worker = class extends Worker {
          constructor(url: string | URL, options?: WorkerOptions) {
            super(++made === broken ? '/missing.js' : url, options)
            alive.add(this)
            onMade(made)
          }
          override terminate(): void {
            alive.delete(this)
            super.terminate()
          }
        }
        const { load } = (await import(
          new URL('/package/wasm/dist/engine/index.js', location.href).href
        )) as typeof import('ggufscope/engine')
        const source = new URL('/stories.gguf', location.href)
        const ended = async (): Promise<boolean> => {
          while (alive.size > 0) await new Promise((done) => setTimeout(done, 20))
          return true
        }
        const threads = 3
        const model = await load(source, { threads })
        const first = { workers: alive.size, threads: model.info.threads }
        model.close()
        const aborted: unknown[] = [await ended()]
        for (const when of [1, 2, 3]) {
          made = 0
          const controller = new AbortController()
          onMade = (count) => count === when && controller.abort(new Error(`at ${count}`))
          aborted.push(
            await load(source, { threads, signal: controller.signal }).catch(String),
            await ended(),
          )
        }
        onMade = () => {}
        made = 0
        broken = 2
        const fewer = await load(source, { threads })
        const { variantReason } = fewer.info
        fewer.close()
        return { first, aborted, fewer: fewer.info.threads, variantReason }
      })
      assert.deepEqual(seen.first, { workers: 3, threads: 3 })
      assert.deepEqual(seen.aborted, [true, 'Error: at 1', true, 'Error: at 2', true, 'Error: at 3', true])
      assert.equal(seen.fewer, 2)
      assert.match(seen.variantReason, /Of 3 threads 2 could be started\./)
    } finally {
      await browser.close()
    }
  })
}

const engineUrl = pathToFileURL(packedFile('wasm/dist/engine/index.js')).href

/** What a program in Node prints before it ends by itself. */
function output(program: string): string {
  const options = { encoding: 'utf8', timeout: 60_000 } as const
  return execFileSync(process.execPath, ['--input-type=module', '--eval', program], options)
}

test('in Node a loaded model with threads does not keep a program alive', () => {
  const program = `
    import { readFileSync } from 'node:fs'
    import { load } from ${JSON.stringify(engineUrl)}
    const bytes = readFileSync(${JSON.stringify(kModel)})
    const closed = await load(bytes, { threads: 3 })
    closed.close()
    const { info } = await load(bytes, { threads: 3 })
    console.log(info.threads)`
  assert.equal(output(program), '3\n')
})

const vectors = join(kRoot, '../shared/vectors/media/vision/qwen2vl')
const skip = skipWithout(vectors)
test('in Node an image that is being read keeps a program alive', { skip }, () => {
  const program = `
    import { readFileSync } from 'node:fs'
    import { load } from ${JSON.stringify(engineUrl)}
    const [bytes, projector] = ['model', 'mmproj'].map((name) => readFileSync(${JSON.stringify(vectors)} + '/' + name + '.gguf'))
    const model = await load(bytes, { threads: 2, projector })
    const image = { width: 600, height: 600, data: new Uint8Array(3 * 600 * 600) }
    await model.encodeMedia({ type: 'image', image })
    console.log('read')`
  assert.equal(output(program), 'read\n')
})
