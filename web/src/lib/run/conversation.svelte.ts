// A conversation is a tree of turns: an edited message or another answer starts a new branch beside the old one.
import { attachmentFrom, type Attachment } from './attachments'
import { oneLine } from '../language/format'
import { t } from '../language/text'

export interface Candidate {
  token: number
  text: string
  logprob: number
}

/** A sampled token of an answer. */
export interface Drawn {
  token: number
  text: string
  logprob: number | undefined
  /** the likeliest tokens at this place, which need not include the sampled one */
  candidates: Candidate[]
}

type TurnState = 'done' | 'running' | 'stopped' | 'cut' | 'failed'

/** A function call of an answer. The arguments are JSON. */
export interface Call {
  id: string
  name: string
  arguments: string
}

export interface Turn {
  id: number
  /** the id of the turn before this one; undefined: none */
  parent: number | undefined
  /** tool: the result of a call */
  role: 'user' | 'assistant' | 'tool'
  text: string
  /** the images and audio of a message */
  attachments?: Attachment[]
  /** what the model thought before its answer */
  reasoning?: string
  /** the calls of an answer; of a result: the call that it belongs to */
  calls?: Call[]
  tokens: Drawn[]
  state: TurnState
  /** shown below the turn: number of tokens and speed, or the error */
  told: string
}

/** The stored and exported form. */
export interface SavedConversation {
  format: 'ggufscope-conversation'
  version: 1
  system: string
  /** the tools as written, if there are any */
  tools?: string
  turns: Turn[]
  /** The model gets the turns from this one on. Absent: all. */
  from?: number
  chosen: [parent: number, child: number][]
}

const root = -1

/** An id that no other tab gives: the time with a random part. */
const newTurnId = () => Date.now() * 4096 + Math.floor(Math.random() * 4096)

/** the branches after a turn; root: the first turns */
const turnsAfter = (turns: readonly Turn[], id: number) =>
  turns.filter(({ parent }) => (parent ?? root) === id)

/** The shown branch, from the first turn to the last. `chosen`: the child that is shown of each parent. */
export function pathOf(turns: readonly Turn[], chosen: Readonly<Record<number, number>>): Turn[] {
  const path: Turn[] = []
  let at: number | undefined = root
  while (at !== undefined) {
    const branches = turnsAfter(turns, at)
    const next: Turn | undefined = branches.find(({ id }) => id === chosen[at!]) ?? branches.at(-1)
    if (next) path.push(next)
    at = next?.id
  }
  return path
}

export class Conversation {
  system = $state('')
  /** the tools as JSON text; empty: none */
  tools = $state('')
  turns = $state<Turn[]>([])
  /** the id of the first turn that the model gets; undefined: all of them */
  from = $state<number>()
  /** the ids of the turns that were added here, not read */
  readonly own = new Set<number>()
  /** the id of the branch that is shown after each turn */
  private chosen = $state<Record<number, number>>({})

  /** the shown branch, from the first turn to the last */
  readonly path: readonly Turn[] = $derived(pathOf(this.turns, this.chosen))

  /** the last answer, if its calls have no results yet */
  get waiting(): Turn | undefined {
    const last = this.path.at(-1)
    return last?.role === 'assistant' && last.state === 'done' && last.calls?.length ? last : undefined
  }

  branchesOf(turn: Turn): readonly Turn[] {
    return turnsAfter(this.turns, turn.parent ?? root)
  }

  /** Adds a turn after `parent`, and shows it. */
  add(parent: number | undefined, role: Turn['role'], text: string): Turn {
    const id = Math.max(newTurnId(), 1 + Math.max(0, ...this.turns.map((turn) => turn.id)))
    this.own.add(id)
    this.turns.push({ id, parent, role, text, tokens: [], state: 'done', told: '' })
    this.chosen[parent ?? root] = id
    return this.turns[this.turns.length - 1]!
  }

  /** Adds the results of an answer's calls, one turn each. Returns the last one. */
  addResults(answer: Turn, results: readonly string[]): Turn {
    let last = answer
    for (const [i, call] of (answer.calls ?? []).entries()) {
      last = this.add(last.id, 'tool', results[i] ?? '')
      last.calls = [{ ...call }]
    }
    return last
  }

  /** Until it has an end, the turn is stored as one that the page's end cut. */
  markRunning(turn: Turn) {
    turn.state = 'running'
  }

  choose(turn: Turn) {
    this.chosen[turn.parent ?? root] = turn.id
  }

  /** The turns from the first one to this one. */
  until(turn: Turn): Turn[] {
    const line: Turn[] = []
    for (let at: Turn | undefined = turn; at; at = this.turns.find(({ id }) => id === at.parent))
      line.unshift(at)
    return line
  }

  /** The turns before an answer that the model gets. */
  sentBefore(turn: Turn): Turn[] {
    const { from = 0 } = this
    return this.until(turn).filter(({ id }) => id >= from && id !== turn.id)
  }

  clear() {
    this.turns = []
    this.from = undefined
    this.chosen = {}
    this.system = ''
    this.tools = ''
    this.own.clear()
  }

  save(): SavedConversation {
    const chosen = Object.entries(this.chosen).map(([parent, child]): [number, number] => [
      Number(parent),
      child,
    ])
    // A turn that is unfinished when the page closes counts as stopped.
    const turns = $state
      .snapshot(this.turns)
      .map((turn): Turn =>
        turn.state === 'running'
          ? { ...turn, state: 'stopped', told: t('The page was closed before the end.') }
          : turn,
      )
    const { system, tools, from } = this
    return {
      format: 'ggufscope-conversation',
      version: 1,
      system,
      ...(tools && { tools }),
      turns,
      ...(from !== undefined && { from }),
      chosen,
    }
  }

  /** Replaces the conversation. Throws an Error if `saved` is not one. */
  restore(saved: unknown) {
    const given = checked(saved)
    this.own.clear()
    this.system = given.system
    this.tools = given.tools ?? ''
    this.turns = given.turns
    this.from = given.from
    this.chosen = Object.fromEntries(given.chosen)
  }

  /** The saved conversation with its defaults. Throws an Error if it is not one. */
  check(saved: unknown): SavedConversation {
    return checked(saved)
  }

  /** Takes over what another tab has written. `before` is what this tab has read or saved last. */
  merge(stored: SavedConversation, before: SavedConversation) {
    const known = new Map(this.turns.map((turn) => [turn.id, turn]))
    for (const turn of stored.turns) {
      const mine = known.get(turn.id)
      if (!mine) this.turns.push(turn)
      else if (!this.own.has(turn.id)) Object.assign(mine, turn)
    }
    this.turns.sort((a, b) => a.id - b.id)
    if (this.system === before.system) this.system = stored.system
    if (this.tools === (before.tools ?? '')) this.tools = stored.tools ?? ''
    if (this.from === before.from) this.from = stored.from
    this.chosen = { ...Object.fromEntries(stored.chosen), ...this.chosen }
  }

  markdown(): string {
    const names = { user: 'User', assistant: 'Assistant', tool: 'Result' }
    const parts = this.path.map(({ role, text, attachments = [], calls = [] }) => {
      const called = role === 'tool' ? [] : calls.map((call) => `\`${call.name}(${call.arguments})\``)
      const attached = attachments.map(({ name }) => `(${name})`)
      return [`**${names[role]}**`, ...attached, ...(text ? [text] : []), ...called].join('\n\n')
    })
    return [...(this.system ? [`**System**\n\n${this.system}`] : []), ...parts].join('\n\n---\n\n') + '\n'
  }
}

function isCall(call: Partial<Call> | null): boolean {
  return [call?.id, call?.name, call?.arguments].every((text) => typeof text === 'string')
}

// A branch of as many turns is far longer than any model's context. Finding it takes their square.
const maxTurns = 10_000
const states: readonly unknown[] = ['done', 'running', 'stopped', 'cut', 'failed'] satisfies TurnState[]

/** JSON has no infinity: the logarithm of 0 is null in it. */
function isToken(token: Partial<Candidate | Drawn> | null): boolean {
  const { logprob } = token ?? {}
  const hasNumber = logprob === undefined || logprob === null || typeof logprob === 'number'
  return Number.isInteger(token?.token) && typeof token?.text === 'string' && hasNumber
}

const withNumber = <T extends { logprob: number | undefined }>(token: T): T =>
  token.logprob === null ? { ...token, logprob: -Infinity } : token

function isDrawn(token: Partial<Drawn> | null): boolean {
  return isToken(token) && Array.isArray(token?.candidates) && token.candidates.every(isToken)
}

const isPair = (pair: unknown): boolean =>
  Array.isArray(pair) && pair.length === 2 && pair.every((id) => Number.isSafeInteger(id))

const roles: readonly unknown[] = ['user', 'assistant', 'tool'] satisfies Turn['role'][]

/** Names the first turn whose role does not exist. */
function checkRoles(turns: unknown) {
  if (!Array.isArray(turns)) return
  const at = turns.findIndex(
    (turn: Partial<Turn> | null) => typeof turn?.role === 'string' && !roles.includes(turn.role),
  )
  if (at < 0) return
  const role = oneLine(String((turns[at] as Turn).role), 40)
  throw new Error(
    t('Turn {n} has the role {role}. The roles are {roles}.', {
      n: at + 1,
      role: JSON.stringify(role),
      roles: roles.join(', '),
    }),
  )
}

function checked(saved: unknown): SavedConversation {
  const given = saved as Partial<SavedConversation> | null
  const isTurn = (turn: Partial<Turn> | null) =>
    typeof turn === 'object' &&
    turn !== null &&
    Number.isSafeInteger(turn.id) &&
    turn.id! > 0 &&
    (turn.state === undefined || states.includes(turn.state)) &&
    (turn.tokens === undefined || (Array.isArray(turn.tokens) && turn.tokens.every(isDrawn))) &&
    (turn.parent === undefined || Number.isInteger(turn.parent)) &&
    roles.includes(turn.role) &&
    typeof turn.text === 'string' &&
    (turn.reasoning === undefined || typeof turn.reasoning === 'string') &&
    (turn.calls === undefined || (Array.isArray(turn.calls) && turn.calls.every(isCall)))
  const turns: unknown = given?.turns
  checkRoles(turns)
  const fits =
    typeof given === 'object' &&
    given !== null &&
    given.format === 'ggufscope-conversation' &&
    given.version === 1 &&
    Array.isArray(turns) &&
    turns.length <= maxTurns &&
    turns.every(isTurn) &&
    new Set(turns.map(({ id }) => id as unknown)).size === turns.length &&
    (given.from === undefined || Number.isSafeInteger(given.from)) &&
    (given.chosen === undefined || (Array.isArray(given.chosen) && given.chosen.every(isPair)))
  if (!fits) throw new Error(t('The file is no conversation that was exported here.'))
  const known = new Set(given.turns!.map(({ id }) => id))
  // A parent must have a smaller id, so that there is no cycle.
  if (given.turns!.some(({ id, parent }) => parent !== undefined && (!known.has(parent) || parent >= id)))
    throw new Error(t('The turns of the conversation do not follow one another.'))
  return {
    format: 'ggufscope-conversation',
    version: 1,
    system: typeof given.system === 'string' ? given.system : '',
    tools: typeof given.tools === 'string' ? given.tools : '',
    turns: given.turns!.map(
      ({ id, parent, role, text, attachments, reasoning, calls, tokens, state, told }) => ({
        id,
        parent,
        role,
        text,
        ...(Array.isArray(attachments) && {
          attachments: attachments.flatMap((one) => attachmentFrom(one) ?? []),
        }),
        ...(reasoning !== undefined && { reasoning }),
        ...(calls !== undefined && { calls }),
        tokens: (tokens ?? []).map((token) => ({
          ...withNumber(token),
          candidates: token.candidates.map(withNumber),
        })),
        // A turn that was written while it ran has no end.
        state: state === 'running' ? 'stopped' : (state ?? 'done'),
        told: typeof told === 'string' ? told : '',
      }),
    ),
    ...(given.from !== undefined && { from: given.from }),
    chosen: given.chosen ?? [],
  }
}
