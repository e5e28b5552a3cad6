// The option --phonemizer: a program that writes texts as phonemes, for models that read phonemes.
import { spawn } from 'node:child_process'
import { basename } from 'node:path'
import { GgufError, quoted } from '../api/errors.js'
import type { Phonemize } from '../engine/index.js'
import { UsageError, type Options, type Values } from './command.js'

export const kPhonemizerOptions: Options = {
  phonemizer: {
    value: 'COMMAND',
    help: 'for Kokoro: a program that turns standard input into phonemes, such as espeak-ng; {language} stands for the language',
  },
}

const kMaxOutput = 1 << 20
const kEspeak = ['-q', '--ipa', '-v', '{language}', '--stdin']

/** espeak-ng alone stands for its options. */
function wordsOf(command: string): readonly [string, ...string[]] {
  const words = command.split(/\s+/).filter((word) => word !== '')
  const [program] = words
  if (program === undefined) throw new UsageError('--phonemizer takes a command, such as espeak-ng')
  const isEspeak = words.length === 1 && /^espeak(-ng)?(\.exe)?$/.test(basename(program))
  return [program, ...words.slice(1), ...(isEspeak ? kEspeak : [])]
}

/** espeak-ng names a language in parentheses where it changes. */
const withoutLanguages = (phonemes: string): string => phonemes.replace(/\([a-z-]+\)/g, '')

async function outputOf(program: string, args: readonly string[], text: string): Promise<string> {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] })
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  ended.catch(() => {}) // awaited below
  child.stdin.on('error', () => {}) // it may end without reading all
  child.stdin.end(text)
  let said = ''
  child.stderr.on('data', (data: Buffer) => (said = (said + data.toString()).slice(-500)))
  const blocks: Buffer[] = []
  let length = 0
  for await (const block of child.stdout) {
    blocks.push(block as Buffer)
    length += (block as Buffer).length
    if (length > kMaxOutput) child.kill()
  }
  const status = await ended
  if (status !== 0 || length > kMaxOutput) throw new Error(said.trim() || `it ended with status ${status}`)
  return Buffer.concat(blocks).toString()
}

/** undefined: the option is absent. A program that fails is an error of the code 'unsupported'. */
export function phonemizerOf(values: Values): Phonemize | undefined {
  const command = values['phonemizer'] as string | undefined
  if (command === undefined) return undefined
  const [program, ...args] = wordsOf(command)
  return async (text, language) => {
    // It is an argument of a program, which may take others for options or paths.
    if (!/^[A-Za-z][A-Za-z0-9-]*$/.test(language))
      throw new GgufError('invalid-argument', `${JSON.stringify(language)} is no code of a language.`)
    const filled = args.map((word) => word.replaceAll('{language}', language))
    try {
      return withoutLanguages(await outputOf(program, filled, `${text}\n`))
    } catch (error) {
      throw new GgufError('unsupported', `The phonemizer ${program} failed: ${quoted(error)}.`)
    }
  }
}
