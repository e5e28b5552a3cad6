// The context of an environment: its folder with the installed package, and functions that run programs there.
import { execFile, spawn } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { Driven, Page } from '../browsers/drive.ts'
import { freePort } from '../server/port.ts'
import { startServer } from '../server/server.ts'
import type { Environment } from './environments.ts'
import { kModel, modelBytes, type Seen } from './expected.ts'

const run = promisify(execFile)
const kMinutes = 6

interface Served {
  readonly html?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface Context {
  /** Runs a program of node_modules/.bin, or one by its path, in the folder. */
  command(command: readonly string[], environment?: Record<string, string>): Promise<string>
  /**
   * Opens a built folder in the browser, from a cross-origin isolated server. more: its index.html, if it is not in the
   * folder, and headers of that server. other: the origin of the model; it also serves node_modules.
   */
  page(folder: string, more?: (other: string) => Served): Promise<Seen>
  /** Starts the environment's own server and opens "/" in the browser. */
  served(command: readonly string[]): Promise<Seen>
  /** Starts its server, fetches "/", and returns the JSON after "SEEN". */
  fetched(command: readonly string[]): Promise<Seen>
  /** Runs a program with the model's path, and returns the JSON after "SEEN" in its output. */
  program(command: readonly string[], environment?: Record<string, string>): Promise<Seen>
  /** Opens a built folder, from a server with these headers, and returns what `show` finds there. */
  open(
    folder: string,
    show: (page: Page) => Promise<string>,
    headers?: Readonly<Record<string, string>>,
  ): Promise<string>
  /** Starts its server, opens "/", and returns what `show` finds there. */
  openServed(command: readonly string[], show: (page: Page) => Promise<string>): Promise<string>
  /** Copies the package's files beside a bundle, as the documentation says. */
  copyAssets(folder: string): void
}

function seenIn(text: string): Seen {
  const found = /SEEN (\{.*?\})(?=\s*<|\s*$)/ms.exec(
    text.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>'),
  )
  if (!found) throw new Error(`nothing was seen: ${text.slice(-1500)}`)
  return JSON.parse(found[1]!) as Seen
}

/** Installs everything in a folder. An installation from an earlier run with the same packages is reused. */
export async function install(
  parent: string,
  { name, packages, files = {}, manifest: more = {} }: Omit<Environment, 'run'>,
  tarball: string,
): Promise<string> {
  const folder = join(parent, name.toLowerCase().replaceAll(/\W+/g, '-'))
  const path = join(folder, 'package.json')
  const manifest = { name: 'app', private: true, type: 'module', version: '1.0.0', ...more, wanted: packages }
  const earlier = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as { wanted?: unknown }) : {}
  if (JSON.stringify(earlier.wanted) !== JSON.stringify(packages)) {
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
    writeFileSync(path, JSON.stringify(manifest))
  }
  for (const stale of [
    'dist',
    'build',
    '.next',
    '.parcel-cache',
    'node_modules/.vite',
    'node_modules/ggufscope',
  ])
    rmSync(join(folder, stale), { recursive: true, force: true })
  await run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', ...packages, tarball], {
    cwd: folder,
  })
  copyFileSync(join(import.meta.dirname, 'app.js'), join(folder, 'app.js'))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  return folder
}

export function contextOf(folder: string, browser: Driven): Context {
  const env = {
    ...process.env,
    MODEL: kModel,
    NEXT_TELEMETRY_DISABLED: '1',
    ASTRO_TELEMETRY_DISABLED: '1',
    PATH: `${join(folder, 'node_modules/.bin')}:${process.env['PATH']}`,
  }

  async function opened<T>(url: string, show: (page: Page) => Promise<T>): Promise<T> {
    const page = await browser.newPage()
    try {
      await page.goto(url)
      return await show(page)
    } finally {
      await page.close()
    }
  }

  const visit = (url: string): Promise<Seen> =>
    opened(url, (page) =>
      page.evaluate(async (model) => {
        const found = globalThis as unknown as {
          everything?: (source: string, options: object, threads: number) => Promise<Record<string, string>>
        }
        for (let i = 0; !found.everything; i++) {
          if (i === 400)
            throw new Error(`the page has no program: ${document.documentElement.outerHTML.slice(0, 500)}`)
          await new Promise((done) => setTimeout(done, 50))
        }
        return await found.everything(model, {}, 2)
      }, modelServer),
    )
  let modelServer = ''

  /** Runs the environment's own server until the work is done. */
  async function beside<T>(command: readonly string[], work: (url: string) => Promise<T>): Promise<T> {
    const port = await freePort()
    const [program, ...words] = command.map((word) => word.replace('{port}', String(port)))
    const server = spawn(program!, words, {
      cwd: folder,
      env: { ...env, PORT: String(port), HOSTNAME: '127.0.0.1' },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let told = ''
    for (const stream of [server.stdout, server.stderr]) stream.on('data', (data) => (told += String(data)))
    const url = `http://127.0.0.1:${port}`
    try {
      for (
        let tries = 0;
        !(await fetch(url).then(
          (response) => response.ok,
          () => false,
        ));
        tries++
      ) {
        if (tries === 300 || server.exitCode !== null)
          throw new Error(`the server does not answer: ${told.slice(-1500)}`)
        await new Promise((done) => setTimeout(done, 200))
      }
      return await work(url)
    } finally {
      try {
        process.kill(-server.pid!, 'SIGKILL')
      } catch {
        // it has gone already
      }
    }
  }

  async function withModel<T>(work: (other: string) => Promise<T>): Promise<T> {
    await using server = await startServer()
    server.add('/stories.gguf', modelBytes())
    server.mount('/node_modules', join(folder, 'node_modules'))
    modelServer = `${server.url}/stories.gguf`
    return await work(server.url)
  }

  async function command(
    words: readonly string[],
    environment: Record<string, string> = {},
  ): Promise<string> {
    const [program, ...rest] = words
    const { stdout } = await run(program!, rest, {
      cwd: folder,
      env: { ...env, ...environment },
      timeout: kMinutes * 60_000,
      maxBuffer: 1 << 26,
    }).catch((error: { stdout?: string; stderr?: string; message: string }) => {
      throw new Error(`${words.join(' ')}: ${`${error.stdout}${error.stderr}`.slice(-1500) || error.message}`)
    })
    return stdout
  }

  return {
    command,
    page: (built, more = () => ({})) =>
      withModel(async (other) => {
        const { html, headers = {} } = more(other)
        await using server = await startServer({ isolated: true, cors: false, headers })
        server.mount('/', join(folder, built))
        if (html) server.add('/index.html', html)
        return await visit(`${server.url}/index.html`)
      }),
    served: (words) => withModel(() => beside(words, visit)),
    fetched: (words) => beside(words, async (url) => seenIn(await (await fetch(url)).text())),
    program: async (words, environment) => seenIn(await command([...words, kModel], environment)),
    async open(built, show, headers = {}) {
      await using server = await startServer({ isolated: true, cors: false, headers })
      server.mount('/', join(folder, built))
      return await opened(`${server.url}/index.html`, show)
    },
    openServed: (words, show) => beside(words, (url) => opened(url, show)),
    copyAssets(built) {
      const dist = join(folder, 'node_modules/ggufscope/wasm/dist')
      for (const from of [dist, join(dist, 'engine')])
        for (const name of readdirSync(from))
          if (/\.wasm$|^engine-worker\.js$/.test(name))
            copyFileSync(join(from, name), join(folder, built, name))
    },
  }
}
