// Downloads into one cache by processes of their own: killed at random moments, and two at the same time.
// node tests/faults/downloads.ts [kills] [megabytes] [seed] prints the figures.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createHash, randomFillSync } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { packedFile } from '../package/packed.ts'
import { bytesContent } from '../server/content.ts'
import { randomNumbers } from '../server/faults.ts'
import { startServer } from '../server/server.ts'

const kCode = (url: string) => `
const { download } = await import(${JSON.stringify(pathToFileURL(packedFile('wasm/dist/store/index.js')).href)})
const { createHash } = await import('node:crypto')
try {
const source = await download(${JSON.stringify(url)}, { retries: 0, onProgress: (n) => console.log(n) })
const hash = createHash('sha256')
for await (const piece of source.stream(0, {})) hash.update(piece)
console.log(hash.digest('hex'))
} catch (error) {
  if (error.name !== 'GgufError') throw error
  console.log(error.code)
}`

interface Ended {
  readonly killed: boolean
  readonly hash: string
}

/** Downloads in another process, which is killed when this many bytes are stored or on the way. */
function downloadIn(cache: string, url: string, killAt = Infinity): Promise<Ended> {
  return new Promise((done, fail) => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', kCode(url)], {
      env: { ...process.env, XDG_CACHE_HOME: cache },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let out = ''
    child.stdout.setEncoding('utf8')
    child.stdout.on('data', (text: string) => {
      out += text
      const last = /(?:^|\n)(\d+)\n[^\n]*$/.exec(out)?.[1]
      if (last !== undefined && Number(last) >= killAt) child.kill('SIGKILL')
    })
    child.on('error', fail)
    child.on('close', (_, signal) =>
      done({ killed: signal === 'SIGKILL', hash: out.trim().split('\n').at(-1) ?? '' }),
    )
  })
}

export interface DownloadFigures {
  readonly kills: number
  readonly completed: number
  readonly leftFiles: number
}

/** Throws if bytes are wrong, or if a killed process leaves something for ever. */
export async function testDownloads(kills: number, size: number, seed: number): Promise<DownloadFigures> {
  const random = randomNumbers(seed)
  const cache = mkdtempSync(join(tmpdir(), 'downloads-'))
  await using server = await startServer()
  const bytes = randomFillSync(Buffer.alloc(size))
  const hash = createHash('sha256').update(bytes).digest('hex')
  let killed = 0
  let completed = 0
  let number = 0
  const files = () =>
    readdirSync(join(cache, 'ggufscope', 'ggufscope-files'), { recursive: true, encoding: 'utf8' })
  try {
    while (killed < kills) {
      const path = `/killed-${number++}.gguf`
      server.add(path, bytesContent(bytes))
      for (let at = 0; at < size;) {
        at += random() * 0.4 * size
        const ended = await downloadIn(cache, server.url + path, killed < kills ? at : Infinity)
        if (ended.killed) killed++
        else {
          assert.equal(ended.hash, hash)
          completed++
          break
        }
      }
      // What is there continues, and a stored file has no bytes of a killed process.
      const last = await downloadIn(cache, server.url + path)
      assert.equal(last.hash, hash)
    }
    // Two at the same time, and then one without a server.
    const path = '/both.gguf'
    server.add(path, bytesContent(bytes))
    const both = await Promise.all([
      downloadIn(cache, server.url + path),
      downloadIn(cache, server.url + path),
    ])
    assert.deepEqual(
      both.map((one) => one.hash),
      [hash, hash],
    )
    server.plan(path, { cut: -1 })
    assert.equal((await downloadIn(cache, server.url + path)).hash, hash)
    // While one is at it, the file changes, and another one downloads the new file.
    const other = randomFillSync(Buffer.alloc(size))
    server.add('/other.gguf', bytesContent(other))
    server.plan(path, { replace: '/other.gguf' })
    const changed = await Promise.all([
      downloadIn(cache, server.url + path),
      downloadIn(cache, server.url + path),
    ])
    const otherHash = createHash('sha256').update(other).digest('hex')
    for (const { hash: told } of changed) assert.ok([otherHash, 'file-changed'].includes(told), told)
    assert.equal((await downloadIn(cache, server.url + path)).hash, otherHash)
    const leftFiles = files().filter((name) => name.endsWith('.part')).length
    assert.equal(leftFiles, 0)
    return { kills: killed, completed, leftFiles }
  } finally {
    rmSync(cache, { recursive: true })
  }
}

if (process.argv[1] === import.meta.filename) {
  const [kills = 50, megabytes = 16, seed = 7] = process.argv.slice(2).map(Number)
  console.log(JSON.stringify(await testDownloads(kills, megabytes * 1e6, seed)))
}
