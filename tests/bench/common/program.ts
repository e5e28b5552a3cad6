// Builds benchmarks written in C++ (tests/bench/*.cpp) as wasm, and runs them in Node or Chromium.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { chromium } from '@playwright/test'
import { startServer } from '../../server/server.ts'
import { kBrowser } from '../../web/browser.ts'

type Create = (options: { arguments: string[]; print(line: string): void }) => Promise<unknown>

const kRoot = join(import.meta.dirname, '..', '..', '..')
const kBuild = join(kRoot, 'build/wasm')

/** Builds tests/bench/NAME.cpp. */
export function build(name: string): void {
  // A compiler cache of native builds does not support Emscripten.
  const { CMAKE_CXX_COMPILER_LAUNCHER: _, ...env } = process.env
  const run = (program: string, ...args: string[]) =>
    execFileSync(program, args, { cwd: kRoot, env, stdio: ['ignore', 'ignore', 'inherit'] })
  run('emcmake', 'cmake', '-S', '.', '-B', kBuild, '-G', 'Ninja', '-DGGUFSCOPE_TESTS=ON')
  run('ninja', '-C', kBuild, `bench_${name}`)
}

/** Calls print for each line when the program prints it. */
export async function runInNode(name: string, args: string[], print: (line: string) => void): Promise<void> {
  const address = pathToFileURL(join(kBuild, `bench_${name}.mjs`)).href
  const { default: create } = (await import(address)) as { default: Create }
  // Copied, because Emscripten's code inserts the program's name.
  await create({ arguments: [...args], print })
}

/** Runs in a cross-origin isolated page, whose timer has a resolution of 5 microseconds. Returns all lines at the end. */
export async function runInChromium(
  name: string,
  args: string[],
): Promise<{ version: string; lines: string[] }> {
  const server = await startServer({ isolated: true })
  server.mount('/', kBuild)
  server.add('/page.html', '<!doctype html><title>benchmark</title>')
  const browser = await chromium.launch(kBrowser)
  try {
    const page = await browser.newPage()
    await page.goto(`${server.url}/page.html`)
    const address = `${server.url}/bench_${name}.mjs`
    const lines = await page.evaluate(
      async ({ address: module, args: given }) => {
        const printed: string[] = []
        const { default: create } = (await import(module)) as { default: Create }
        await create({ arguments: given, print: (line) => printed.push(line) })
        return printed
      },
      { address, args },
    )
    return { version: browser.version(), lines }
  } finally {
    await browser.close()
    await server.close()
  }
}
