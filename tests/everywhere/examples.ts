// The documentation's examples (web/docs/examples): each is installed, built or started as its reader would, and must show its result.
import { globSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Driven, Page } from '../browsers/drive.ts'
import { kRoot } from '../package/packed.ts'
import { startServer } from '../server/server.ts'
import { kSite } from '../../web/docs/.vitepress/site.ts'
import { contextOf, install, type Context } from './context.ts'
import { modelBytes } from './expected.ts'

export const kExamplesFolder = join(kRoot, 'web/docs/examples')
const kCdn = /https:\/\/cdn\.jsdelivr\.net\/npm\/ggufscope@[^/]+\//g
const kStory = /Once upon a time\S* .{40}/s

interface Example {
  /** the folder's name */
  readonly name: string
  /** what it must show or print */
  readonly result: RegExp
  /** the text of the button that starts it, if any */
  readonly button?: string
  run(context: Context, show: (page: Page) => Promise<string>): Promise<string>
}

const vite = async (
  context: Context,
  show: (page: Page) => Promise<string>,
  headers?: Record<string, string>,
) => {
  await context.command(['npm', 'run', 'build'])
  return await context.open('dist', show, headers)
}

export const kExamples: readonly Example[] = [
  { name: 'vanilla', result: /llama, 2\.0 million parameters.*29 tensors/s, run: vite },
  { name: 'react', result: kStory, button: 'Go on', run: vite },
  { name: 'svelte', result: /user: Tell me a story\..*assistant: .{40}/s, button: 'Send', run: vite },
  {
    name: 'next',
    result: kStory,
    button: 'Tell a story',
    async run(context, show) {
      await context.command(['npm', 'run', 'build'])
      return await context.openServed(['next', 'start', '-p', '{port}', '-H', '127.0.0.1'], show)
    },
  },
  {
    name: 'node',
    result: /llama, 2\d+ parameters.*Once upon a time.{40}/s,
    run: (context) => context.command(['npm', 'start', '--silent']),
  },
  { name: 'worker', result: /^\d+ tokens in 39 characters$/, run: vite },
  {
    name: 'extension',
    result: /llama.*2\.0 million parameters.*29 tensors/s,
    run: (context, show) => {
      const manifest = JSON.parse(
        readFileSync(join(kExamplesFolder, 'extension/public/manifest.json'), 'utf8'),
      ) as {
        content_security_policy: { extension_pages: string }
      }
      return vite(context, show, {
        'Content-Security-Policy': manifest.content_security_policy.extension_pages,
      })
    },
  },
  { name: 'cdn', result: kStory, button: 'Tell a story', run: (context, show) => context.open('.', show) },
]

const filesIn = (folder: string): string[] =>
  globSync('**/*', { cwd: folder }).filter((path) => statSync(join(folder, path)).isFile())

/** A text with the tests' server in place of the site and of the CDN. */
const onServer = (text: string, url: string): string =>
  text.replaceAll(kSite, `${url}/`).replaceAll(kCdn, `${url}/ggufscope/`)

/** Replaces the servers in all files of a folder. */
export function replaceServers(folder: string, url: string): void {
  for (const path of filesIn(folder)) {
    const file = join(folder, path)
    writeFileSync(file, onServer(readFileSync(file, 'utf8'), url))
  }
}

/** The files of an example by their paths, for that server. */
function filesOf(name: string, url: string): Record<string, string> {
  const folder = join(kExamplesFolder, name)
  return Object.fromEntries(
    filesIn(folder).map((path) => [path, onServer(readFileSync(join(folder, path), 'utf8'), url)]),
  )
}

/** Presses the button and returns the text of #result when it fits, or what is there after a minute. */
export function showing({ button, result }: Example): (page: Page) => Promise<string> {
  return (page) =>
    page.evaluate(
      async ({ button, source, flags }) => {
        const fitting = new RegExp(source, flags)
        let text = ''
        for (let tries = 0; tries < 600; tries++) {
          const pressed = [...document.querySelectorAll('button')].find(
            ({ innerText, disabled }) => innerText === button && !disabled,
          )
          text = document.querySelector<HTMLElement>('#result')?.innerText ?? ''
          if (fitting.test(text)) break
          // A framework's button works only when its scripts have run, so it is pressed until something is shown.
          if (text === '' && tries % 20 === 10) pressed?.click()
          await new Promise((done) => setTimeout(done, 100))
        }
        return text
      },
      { button, source: result.source, flags: result.flags },
    )
}

export type Verdict = { readonly failed?: string; readonly skipped?: string }

/** Installs an example below `parent` and runs it. It is skipped where its packages cannot be installed. */
export async function tryExample(
  example: Example,
  parent: string,
  tarball: string,
  browser: Driven,
): Promise<Verdict> {
  const { name, result } = example
  await using server = await startServer()
  server.add('/sample.gguf', modelBytes())
  const { 'package.json': manifest = '{}', ...files } = filesOf(name, server.url)
  const {
    scripts = {},
    dependencies = {},
    devDependencies = {},
  } = JSON.parse(manifest) as Record<string, Record<string, string>>
  const packages = Object.entries({ ...dependencies, ...devDependencies })
    .filter(([dependency]) => dependency !== 'ggufscope')
    .map(([dependency, version]) => `${dependency}@${version}`)
  let folder: string
  try {
    const row = { name: `example ${name}`, packages, files, manifest: { scripts } }
    folder = await install(parent, row, tarball)
  } catch (error) {
    const offline = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENOTCACHED/.exec(String(error))
    if (offline) return { skipped: `its packages cannot be installed here (${offline[0]})` }
    return { failed: `install: ${String(error)}` }
  }
  server.mount('/ggufscope', join(folder, 'node_modules/ggufscope'))
  try {
    const text = await example.run(contextOf(folder, browser), showing(example))
    return result.test(text.trim()) ? {} : { failed: `it shows ${JSON.stringify(text.slice(0, 300))}` }
  } catch (error) {
    return { failed: String(error instanceof Error ? error.message : error) }
  }
}
