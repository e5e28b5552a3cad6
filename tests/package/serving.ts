// A server of the packed command line, for some requests.
import { spawn } from 'node:child_process'
import { packedFile } from './packed.ts'

/** Starts a server of a model, and ends it after use. post sends forms as they are, and other bodies as JSON. */
export async function serving<T>(
  model: string,
  options: readonly string[],
  use: (post: (route: string, body: unknown) => Promise<Response>, url: string) => Promise<T>,
): Promise<T> {
  const args = ['serve', model, '--port', '0', '--threads', '1', '--json', ...options]
  const child = spawn(process.execPath, [packedFile('wasm/dist/cli.js'), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    let text = ''
    for await (const piece of child.stdout.iterator({ destroyOnReturn: false })) {
      text += String(piece)
      if (text.includes('}')) break
    }
    const { url } = JSON.parse(text) as { url: string }
    return await use(
      (route, body) =>
        fetch(url + route, { method: 'POST', body: body instanceof FormData ? body : JSON.stringify(body) }),
      url,
    )
  } finally {
    child.kill('SIGKILL')
  }
}
