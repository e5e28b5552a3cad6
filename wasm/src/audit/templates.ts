// Looks for what a chat template hides: texts that only some conversations show, text that nobody sees, addresses, and
// code that tries to leave the sandbox.
import type { AssetOptions } from '../api/assets.js'
import { GgufError } from '../api/errors.js'
import type { Finding, FindingLevel } from '../api/findings.js'
import type { Metadata } from '../api/metadata.js'
import type { ReadOptions } from '../api/source.js'
import { renderTemplate } from '../text/render-chat.js'
import type { Rendered } from '../text/render-template.js'
import { kConversations } from './conversations.js'
import { findInvisible } from './invisible.js'
import { lineOf, literalsOf, partsOf, stringsOf, type Condition, type Literal } from './template-parts.js'

const kKey = 'tokenizer.chat_template'
// More findings of one kind tell nothing new.
const kMaxOfKind = 8

interface Problem {
  readonly level: FindingLevel
  readonly code: string
  readonly message: string
  /** in UTF-16 units of the template */
  readonly at: number
}

const quoted = (text: string): string => {
  const line = text.trim().replaceAll(/\s+/g, ' ')
  const shown = Array.from(line.length > 80 ? `${line.slice(0, 77)}...` : line, (character) =>
    findInvisible(character) ? '?' : character,
  )
  return `"${shown.join('')}"`
}

/** Parts of a text that read like sentences: four words, or a row of characters of a script without spaces. */
function sentencesOf(text: string): string[] {
  return text
    .split(/[{}%<>|\n\r\t]+/)
    .map((one) => one.trim())
    .filter(
      (one) =>
        one.split(/\s+/).filter((word) => /\p{L}{2}/u.test(word)).length >= 4 ||
        /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]{8,}/u.test(one),
    )
}

// The text of a message, as templates name it: content, message.content, messages[-1]['content'] | lower.
const kContent =
  /(?:[\w.[\]'"()-]*(?:\.|\[['"]))?(?:content|text|query|prompt|user_message|user_input)(?:['"]\])?/.source
const kStringIn = new RegExp(
  `(['"])((?:(?!\\1).)+)\\1\\s+(?:not\\s+)?in\\s+\\(?${kContent}(?![\\w[]|\\.(?!lower|strip|upper))`,
  'i',
)
const kCompared = new RegExp(
  `${kContent}\\)?[\\w.()| ]*?(?:\\s*[!=]=\\s*|\\.(?:startswith|endswith|find|index|count)\\()\\s*(['"])((?:(?!\\1).)+)\\1`,
  'i',
)
const kClock =
  /\b(?:strftime_now|raise_now|now|date_string|datetime|current_date)\b[^]*?(?:[<>]=?|==|!=|\bin\b)/

/** The word in what people write that a condition looks for. Marks such as </think> are no words. */
function wordOf(condition: string): string | undefined {
  for (const pattern of [kStringIn, kCompared]) {
    const word = pattern.exec(condition)?.[2]
    const isMark = word === undefined || !/\p{L}{2}/u.test(word) || /[<>[\]|]|^\\/.test(word)
    if (!isMark && !/^(?:text|image|video|audio)/.test(word)) return word
  }
  return undefined
}

const hasWords = ({ text }: Literal): boolean =>
  (text.replaceAll(/<[^<>]*>|\[[A-Z_/]+\]/g, ' ').match(/\p{L}{3,}/gu) ?? []).length >= 2

/** Conditions on what a message says and on the date, with the text that they add. */
function conditionProblems(conditions: readonly Condition[], literals: readonly Literal[]): Problem[] {
  return conditions.flatMap((condition): Problem[] => {
    const word = wordOf(condition.code)
    if (word === undefined && !kClock.test(condition.code)) return []
    const code = word === undefined ? 'template-clock' : 'template-condition'
    const what =
      word === undefined
        ? "a condition on today's date"
        : `a condition on what a message says, ${quoted(word)},`
    const added = literals.find(
      (one) => one.conditions.some(({ at }) => at === condition.at) && hasWords(one),
    )
    return added
      ? [{ level: 'spec', code, message: `${what} adds text: ${quoted(added.text)}`, at: added.at }]
      : [{ level: 'note', code, message: what.replace(/,$/, ''), at: condition.at }]
  })
}

/** The prompts of the standard conversations. Those that the template refuses are left out. */
async function promptsOf(
  source: string,
  hosting: AssetOptions | undefined,
  signal: AbortSignal | undefined,
): Promise<Rendered[]> {
  const prompts: Rendered[] = []
  for (const variables of kConversations) {
    signal?.throwIfAborted()
    try {
      prompts.push(await renderTemplate(source, variables, {}, hosting))
    } catch (error) {
      if (!(error instanceof GgufError && error.code.startsWith('chat-template'))) throw error
      if (error.code === 'chat-template-limit') break // the others would take as long
    }
  }
  return prompts
}

const flat = (text: string): string => text.replaceAll(/\s+/g, ' ')

function unseenProblems(literals: readonly Literal[], prompts: readonly Rendered[]): Problem[] {
  if (prompts.length === 0) return []
  const all = prompts.map(({ text }) => flat(text))
  return literals.flatMap(({ text, at }): Problem[] => {
    const sentences = sentencesOf(text)
    if (sentences.length === 0 || sentences.some((one) => all.some((prompt) => prompt.includes(flat(one)))))
      return []
    const message = `no standard conversation shows this text: ${quoted(sentences[0]!)}`
    return [{ level: 'note', code: 'template-unseen', message, at: at + text.indexOf(sentences[0]!) }]
  })
}

/** The sentences that the template itself adds to the plainest conversation. */
function addedProblems(prompts: readonly Rendered[]): Problem[] {
  const [plain] = prompts
  if (!plain) return []
  const bytes = new TextEncoder().encode(plain.text)
  let at = 0
  const own = plain.runs.flatMap(({ bytes: length, content }) => {
    const run = bytes.subarray(at, at + length)
    at += length
    return content ? [] : [new TextDecoder().decode(run)]
  })
  const sentences = own.flatMap(sentencesOf)
  if (sentences.length === 0) return []
  const message = `the template adds to every conversation: ${quoted(sentences.join(' '))}`
  return [{ level: 'note', code: 'template-adds-text', message, at: 0 }]
}

const kActive =
  /!\[[^\]]*\]\(|<(?:img|script|iframe|object|embed|link|form|svg|video|audio)\b[^>]*(?:src|href|action|on\w+)\s*=|\bjavascript:|\bdata:text\/html/gi
const kAddress =
  /\b(?:https?|ftp|wss?|file):\/\/[^\s'"<>)]*|\bwww\.[a-z0-9-]+\.[a-z]{2,}|\b(?:\d{1,3}\.){3}\d{1,3}\b/gi

function networkProblems(source: string): Problem[] {
  const active = [...source.matchAll(kActive)].map((match): Problem => {
    const message = `markup that may load something when the answer is shown: ${quoted(source.slice(match.index, match.index + 80))}`
    return { level: 'spec', code: 'template-link', message, at: match.index }
  })
  const addresses = [...source.matchAll(kAddress)].map((match): Problem => {
    const message = `an address: ${quoted(match[0])}`
    return { level: 'note', code: 'template-link', message, at: match.index }
  })
  return [...active, ...addresses]
}

const kPrivate =
  /__\w+__|\b(?:constructor|mro|func_globals|func_code|gi_frame|gi_code|cr_frame|f_globals|f_builtins|tb_frame)\b/
const kOutside =
  /\|\s*attr\b|\b(?:lipsum|cycler|joiner|url_for|get_flashed_messages|self|request|config|environ|os|sys|subprocess|builtins|popen|eval|exec|system|constructor|getattr|globals|locals)\s*(?:\.|\(|\[)/
const kBuilt = /(['"])_+\1\s*(?:[~+*%]|\|\s*(?:join|format))|[~+*%]\s*(['"])_+\2/
const kTagNames = /^[-+]?\s*(?:import|from|include|extends)\b/

/** Code that has no use in a chat template, but in an attack on the program that renders it. */
function accessProblems(source: string): Problem[] {
  return partsOf(source).flatMap((part): Problem[] => {
    if (part.kind === 'text' || part.kind === 'comment') return []
    const strings = stringsOf(part)
    const code = strings.reduce(
      (text, { raw }) => text.replace(raw, raw.startsWith("'") ? "''" : '""'),
      part.text,
    )
    const found =
      kPrivate.exec(code)?.[0] ??
      strings.find(({ text }) => kPrivate.test(text))?.text ??
      strings.find(({ raw }) => /\\(?:x5f|u005f|137)/i.test(raw))?.raw ??
      kOutside.exec(code)?.[0] ??
      kBuilt.exec(part.text)?.[0] ??
      kTagNames.exec(part.text)?.[0]
    if (found === undefined) return []
    const message = `code that no conversation needs, but attacks on templates use: ${quoted(found)}`
    return [{ level: 'error', code: 'template-escape', message, at: part.at }]
  })
}

function invisibleProblems(source: string): Problem[] {
  const found = findInvisible(source)
  if (!found) return []
  const { at, count, what, hidden } = found
  const spelled = hidden === '' ? '' : `, which spell ${quoted(hidden)}`
  const message = `${count} ${what} that nobody sees${spelled}`
  return [{ level: 'spec', code: 'template-invisible', message, at }]
}

async function problemsOf(
  source: string,
  hosting: AssetOptions | undefined,
  signal: AbortSignal | undefined,
): Promise<Problem[]> {
  const { conditions, literals } = literalsOf(source)
  const prompts = await promptsOf(source, hosting, signal)
  const conditional = conditionProblems(conditions, literals)
  const told = new Set(conditional.map(({ at }) => at))
  return [
    accessProblems(source),
    invisibleProblems(source),
    conditional,
    networkProblems(source),
    unseenProblems(
      literals.filter(({ at }) => !told.has(at)),
      prompts,
    ),
    addedProblems(prompts),
  ].flatMap((problems) => problems.slice(0, kMaxOfKind))
}

/** What lint() finds in a template's text, too, with less to say. */
export const kFoundByAudit: ReadonlySet<string> = new Set(
  ['condition', 'clock', 'escape', 'invisible', 'link'].map((rule) => `template-${rule}`),
)

/** The findings on each chat template of a file, with the offset of the byte that they are about. */
export async function auditTemplates(
  { metadata, hosting }: { readonly metadata: Metadata; readonly hosting?: AssetOptions | undefined },
  { signal }: ReadOptions,
): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const key of metadata.keys()) {
    const source = metadata.get(key)
    if ((key !== kKey && !key.startsWith(`${kKey}.`)) || typeof source !== 'string') continue
    for (const { at, message, ...kind } of await problemsOf(source, hosting, signal)) {
      const offset = (metadata.offset(key) ?? 0) + new TextEncoder().encode(source.slice(0, at)).length
      const where = key === kKey ? '' : `${key}, `
      findings.push({
        ...kind,
        message: `${where}line ${lineOf(source, at)}: ${message}`,
        offset,
        shard: 0,
      })
    }
  }
  return findings
}
