// Runs a snippet in a worker of its own, which the page can stop at any time. The worker is a file of the site, so that the page's
// content policy, which forbids code from texts, does not apply to it.
import type { FromSnippet, Level, ToSnippet } from './messages.js'
import { printed } from './print.js'
import { relay, RelayedWorker } from './relayed-worker.js'

/** A snippet that prints without end must not fill the page. */
const kMaxLines = 500

const post = (message: FromSnippet, transfer: Transferable[] = []): void =>
  self.postMessage(message, { transfer })
let lines = 0

const isSound = (value: unknown) => value instanceof Blob && value.type.startsWith('audio/')

function print(level: Level, values: readonly unknown[]): void {
  lines++
  const sound = values.find(isSound) as Blob | undefined
  if (lines <= kMaxLines) post({ print: level, text: printed(values), sound })
  else if (lines === kMaxLines + 1)
    post({ print: 'warn', text: `Only the first ${kMaxLines} lines are shown.` })
}

const levels = { log: 'log', info: 'log', debug: 'log', warn: 'warn', error: 'error' } as const
for (const [name, level] of Object.entries(levels))
  Object.assign(console, { [name]: (...values: unknown[]) => print(level, values) })

RelayedWorker.send = (worker, transfer) => post({ worker }, transfer)
Object.assign(self, { Worker: RelayedWorker })

/** The module of the package that a snippet imports by its name. */
function moduleAt(name: string, packageUrl: string): string {
  const entry = /^ggufscope(?:\/([a-z]+))?$/.exec(name)
  if (entry && entry[1] !== 'node')
    return `${packageUrl}${entry[1] === undefined ? '' : `${entry[1]}/`}index.js`
  const reason = entry ? 'It needs Node.' : 'Only ggufscope and its entry points are here.'
  throw new Error(`A page cannot import ${JSON.stringify(name)}. ${reason}`)
}

/** The snippet's text with its imports as expressions, in the same lines. */
function withoutImports(text: string, packageUrl: string): string {
  return text.replaceAll(
    /^import\s*\{([^}]*)\}\s*from\s*(['"])([^'"\n]+)\2;?/gm,
    (_, names: string, _quote, name: string) =>
      `const {${names.replaceAll(/\btype\s+\w+,?/g, '').replaceAll(/\bas\b/g, ':')}} = await import(${JSON.stringify(moduleAt(name, packageUrl))});`,
  )
}

const AsyncFunction = (async () => {}).constructor as new (text: string) => () => Promise<void>

/** Types of a call are comparisons in JavaScript: load<SpeechModel>(address). */
const kTypedCall = /\w<[A-Z][\w, ]*>\(/

/** The snippet as a function; undefined: it has types. */
function made(text: string, isPlain: boolean): (() => Promise<void>) | undefined {
  if (isPlain) return new AsyncFunction(text)
  if (kTypedCall.test(text)) return undefined
  try {
    return new AsyncFunction(text)
  } catch {
    return undefined
  }
}

async function run(text: string, packageUrl: string, isPlain: boolean): Promise<void> {
  try {
    const snippet = made(withoutImports(text, packageUrl), isPlain)
    if (!snippet) {
      post({ ended: 'typed' })
      return
    }
    await snippet()
    post({ ended: 'well' })
  } catch (error) {
    post({ print: 'error', text: printed([error]) })
    post({ ended: 'failed' })
  }
}

self.addEventListener('message', ({ data }: MessageEvent<ToSnippet>) => {
  if ('run' in data) void run(data.run, data.packageUrl, data.isPlain)
  else relay(data.id, data)
})
self.addEventListener('unhandledrejection', ({ reason }) => print('error', [reason]))
