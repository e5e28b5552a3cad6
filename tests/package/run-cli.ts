// Runs the packed command line in a process of its own.
import { execFile } from 'node:child_process'
import { packedFile } from './packed.ts'

export interface Ran {
  readonly status: number
  readonly out: string
  readonly err: string
}

/** Runs the packed command line. env is added to this process's. */
export function runCli(
  args: readonly string[],
  {
    cwd,
    env,
    input = '',
  }: {
    cwd?: string | undefined
    env?: Readonly<Record<string, string>> | undefined
    input?: Uint8Array | string | undefined
  } = {},
): Promise<Ran> {
  return new Promise((done) => {
    const child = execFile(
      process.execPath,
      [packedFile('wasm/dist/cli.js'), ...args],
      { cwd, env: { ...process.env, ...env } },
      (error, out, err) => done({ status: typeof error?.code === 'number' ? error.code : 0, out, err }),
    )
    child.stdin!.on('error', () => {}) // it may read less than all
    child.stdin!.end(input)
  })
}
