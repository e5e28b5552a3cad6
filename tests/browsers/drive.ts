// Controls Chromium, Firefox and WebKitGTK (Safari's engine) with one small interface: Chromium by Playwright, Firefox
// by WebDriver BiDi, WebKitGTK by WebDriver over HTTP. If a browser is not installed, its tests are skipped with a
// message.
import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from '@playwright/test'
import { freePort } from '../server/port.ts'
import { kBrowser, kHasBrowser } from '../web/browser.ts'

export interface Page {
  goto(url: string): Promise<void>
  /** Runs a function in the page and returns its result as JSON. It can use only its argument, not outer variables. */
  evaluate<T, A = undefined>(run: (argument: A) => T | Promise<T>, argument?: A): Promise<T>
  close(): Promise<void>
}

export interface Size {
  width: number
  height: number
}

export interface Driven {
  /** size: of the visible part of the page */
  newPage(size?: Size): Promise<Page>
  /** Bytes of memory of all its processes; what several share is counted once. Not of Chromium, which says itself. */
  memory?(): number
  close(): Promise<void>
}

const kAll = ['chromium', 'firefox', 'webkit'] as const
export type BrowserName = (typeof kAll)[number]
/** All browsers, or those that the variable BROWSERS names. */
export const kBrowserNames = kAll.filter((name) => process.env['BROWSERS']?.includes(name) ?? true)

const kFirefox = process.env['FIREFOX'] ?? '/usr/bin/firefox-esr'
const kWebKit = process.env['WEBKIT_DRIVER'] ?? '/usr/bin/WebKitWebDriver'
const kMiniBrowser = '/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser'

/** The reason why a browser cannot be run here, or false. */
export function missing(name: BrowserName): string | false {
  const needed = {
    chromium: kHasBrowser ? [] : ['chromium'],
    firefox: [kFirefox],
    webkit: [kWebKit, kMiniBrowser, '/usr/bin/xvfb-run'],
  }[name].filter((path) => !existsSync(path))
  return needed.length > 0 && `${name} is not installed: there is no ${needed.join(', ')}`
}

/** Code for a page that returns the function's result, or the thrown error, as JSON. */
function wrapped(run: (argument: never) => unknown, argument: unknown): string {
  return `(async () => {
    try { return JSON.stringify({ value: await (${String(run)})(${JSON.stringify(argument) ?? 'undefined'}) }) }
    catch (error) { return JSON.stringify({ error: String(error?.stack ?? '') + String(error) }) }
  })()`
}

function unwrapped<T>(answer: string): T {
  const { value, error } = JSON.parse(answer) as { value: T; error?: string }
  if (error !== undefined) throw new Error(error)
  return value
}

async function retried<T>(what: string, run: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await run()
    } catch (error) {
      if (tries === 300) throw new Error(`${what} does not answer`, { cause: error })
      await new Promise((done) => setTimeout(done, 100))
    }
  }
}

const started = new Set<ChildProcess>()
/** Ends a program and its child processes, which are in its process group. */
function kill(program: ChildProcess): void {
  started.delete(program)
  try {
    process.kill(-program.pid!, 'SIGKILL')
  } catch {
    // it has gone already
  }
}
// Ends all browsers if the tests are stopped.
process.once('exit', () => started.forEach(kill))
process.once('SIGTERM', () => process.exit(143))

function begin(path: string, programArguments: string[], environment: NodeJS.ProcessEnv): ChildProcess {
  const env = { ...process.env, ...environment }
  const program = spawn(path, programArguments, { detached: true, stdio: 'ignore', env })
  started.add(program)
  return program
}

async function end(program: ChildProcess): Promise<void> {
  if (program.exitCode !== null || program.signalCode !== null) return
  const gone = new Promise((done) => program.once('exit', done))
  kill(program)
  await gone
}

async function startChromium(): Promise<Driven> {
  const browser = await chromium.launch(kBrowser)
  // Its pages share the storage of their sites, as in the other browsers.
  const context = await browser.newContext()
  return {
    async newPage(size) {
      const page = await context.newPage()
      if (size) await page.setViewportSize(size)
      return {
        goto: async (url) => void (await page.goto(url)),
        evaluate: async (run, argument) =>
          unwrapped(await page.evaluate<string>(wrapped(run as never, argument))),
        close: () => page.close(),
      }
    },
    close: () => browser.close(),
  }
}

/** Sends commands of WebDriver BiDi and receives the responses. */
class Bidi {
  readonly #socket: WebSocket
  readonly #waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>()
  #id = 0

  private constructor(socket: WebSocket) {
    this.#socket = socket
    socket.addEventListener('message', ({ data }) => {
      const { id, result, error, message } = JSON.parse(String(data)) as {
        id: number
        result: unknown
        error?: string
        message?: string
      }
      const waiting = this.#waiting.get(id)
      this.#waiting.delete(id)
      if (error) waiting?.reject(new Error(`${error}: ${message}`))
      else waiting?.resolve(result)
    })
  }

  static async connect(url: string): Promise<Bidi> {
    const socket = new WebSocket(url)
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve)
      socket.addEventListener('error', () => reject(new Error(`no answer at ${url}`)))
    })
    return new Bidi(socket)
  }

  call<T>(method: string, params: object): Promise<T> {
    const id = ++this.#id
    this.#socket.send(JSON.stringify({ id, method, params }))
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`${method} took longer than two minutes`)), 120_000)
      const settled =
        <V>(settle: (value: V) => void) =>
        (value: V) => {
          clearTimeout(late)
          settle(value)
        }
      this.#waiting.set(id, {
        resolve: settled(resolve as (value: unknown) => void),
        reject: settled(reject),
      })
    })
  }

  close(): void {
    this.#socket.close()
  }
}

/** The processes that descend from a program. */
function descendants(program: ChildProcess): number[] {
  const parents = readdirSync('/proc').flatMap((name) => {
    try {
      return /^\d+$/.test(name)
        ? [
            [
              Number(name),
              Number(readFileSync(`/proc/${name}/stat`, 'utf8').split(') ').at(-1)!.split(' ')[1]),
            ] as const,
          ]
        : []
    } catch {
      return [] // it has just ended
    }
  })
  const all = [program.pid!]
  for (const parent of all) for (const [id, of] of parents) if (of === parent) all.push(id)
  return all
}

const memoryOf = (program: ChildProcess): number =>
  descendants(program).reduce((sum, id) => {
    try {
      const [, kilobytes] = /^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${id}/smaps_rollup`, 'utf8'))!
      return sum + Number(kilobytes) * 1024
    } catch {
      return sum
    }
  }, 0)

async function startFirefox(): Promise<Driven> {
  const profile = mkdtempSync(join(tmpdir(), 'ggufscope-firefox-'))
  const port = await freePort()
  // Sound plays without a click of a person.
  writeFileSync(join(profile, 'user.js'), 'user_pref("media.autoplay.default", 0);\n')
  const program = begin(
    kFirefox,
    ['--headless', '--no-remote', '--profile', profile, `--remote-debugging-port=${port}`, 'about:blank'],
    { HOME: profile, MOZ_DISABLE_CONTENT_SANDBOX: '1' },
  )
  const bidi = await retried('Firefox', () => Bidi.connect(`ws://127.0.0.1:${port}/session`))
  await bidi.call('session.new', { capabilities: {} })
  return {
    async newPage(size) {
      const { context } = await bidi.call<{ context: string }>('browsingContext.create', { type: 'tab' })
      if (size) await bidi.call('browsingContext.setViewport', { context, viewport: size })
      return {
        goto: (url) => bidi.call('browsingContext.navigate', { context, url, wait: 'complete' }),
        async evaluate(run, argument) {
          const { result } = await bidi.call<{ result: { value: string } }>('script.evaluate', {
            expression: wrapped(run as never, argument),
            target: { context },
            awaitPromise: true,
          })
          return unwrapped(result.value)
        },
        close: () => bidi.call('browsingContext.close', { context }),
      }
    },
    memory: () => memoryOf(program),
    async close() {
      bidi.close()
      await end(program)
      rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
    },
  }
}

async function startWebKit(): Promise<Driven> {
  const home = mkdtempSync(join(tmpdir(), 'ggufscope-webkit-'))
  const port = await freePort()
  const program = begin('/usr/bin/xvfb-run', ['-a', kWebKit, `--port=${port}`], {
    HOME: home,
    XDG_DATA_HOME: home,
    XDG_CACHE_HOME: home,
    WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1',
    WEBKIT_DISABLE_COMPOSITING_MODE: '1',
    // Safari has it on isolated pages; GTK's build needs this setting.
    JSC_useSharedArrayBuffer: '1',
  })
  const command = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const response = await fetch(`http://127.0.0.1:${port}/session${path}`, {
      method,
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    const { value } = (await response.json()) as { value: T & { error?: string; message?: string } }
    if (!response.ok) throw new Error(`${value.error}: ${value.message}`)
    return value
  }
  await retried('WebKitWebDriver', () => fetch(`http://127.0.0.1:${port}/status`))
  const options = { binary: kMiniBrowser, args: ['--automation', '--autoplay-policy=allow'] }
  const { sessionId } = await command<{ sessionId: string }>('POST', '', {
    capabilities: { alwaysMatch: { browserName: 'MiniBrowser', 'webkitgtk:browserOptions': options } },
  })
  await command('POST', `/${sessionId}/timeouts`, { script: 120_000, pageLoad: 60_000 })
  const first = await command<string>('GET', `/${sessionId}/window`)
  // Commands go to the window that was selected last. New windows are opened from one that stays open.
  let last: Promise<unknown> = Promise.resolve()
  const inWindow = <T>(handle: string, method: string, path: string, body?: object): Promise<T> => {
    const done = last.then(async () => {
      await command('POST', `/${sessionId}/window`, { handle })
      return await command<T>(method, `/${sessionId}/${path}`, body)
    })
    last = done.catch(() => {})
    return done
  }
  return {
    async newPage(size) {
      const { handle } = await inWindow<{ handle: string }>(first, 'POST', 'window/new', {
        type: 'tab',
      })
      if (size) await inWindow(handle, 'POST', 'window/rect', size)
      return {
        goto: (url) => inWindow(handle, 'POST', 'url', { url }),
        async evaluate(run, argument) {
          const script = `const done = arguments[arguments.length - 1]; ${wrapped(run as never, argument)}.then(done)`
          return unwrapped(await inWindow(handle, 'POST', 'execute/async', { script, args: [] }))
        },
        close: () => inWindow(handle, 'DELETE', 'window'),
      }
    },
    memory: () => memoryOf(program),
    async close() {
      await command('DELETE', `/${sessionId}`).catch(() => {})
      await end(program)
      rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
    },
  }
}

export function startBrowser(name: BrowserName): Promise<Driven> {
  return { chromium: startChromium, firefox: startFirefox, webkit: startWebKit }[name]()
}
