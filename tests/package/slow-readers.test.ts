// Answers that are read slowly, or not at all: the engine rests, its threads sleep, and other calls are answered.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { engine, kStories, stories } from './engine.ts'
import { packedFile } from './packed.ts'

const { load } = engine
const kEndless = { ignoreEnd: true, contextShift: true, seed: 1 }
const kTasks = '/proc/self/task'

/** The state of each thread but this one, and their processor time together in hundredths of a second. */
function threads(): { states: string; ticks: number } {
  let states = ''
  let ticks = 0
  for (const task of readdirSync(kTasks)) {
    if (Number(task) === process.pid) continue
    try {
      // The name in parentheses may have spaces; state, user and system time are the third, 14th and 15th field.
      const fields = readFileSync(`${kTasks}/${task}/stat`, 'utf8').split(') ')[1]!.split(' ')
      states += fields[0]
      ticks += Number(fields[11]) + Number(fields[12])
    } catch {
      // it has just ended
    }
  }
  return { states, ticks }
}

/** Waits until all threads but this one sleep, and use no processor time, ten times in succession. */
async function rest(): Promise<void> {
  let ticks = -1
  for (let tries = 0, still = 0; still < 10; tries++) {
    assert.ok(tries < 2000, 'the threads do not rest')
    await sleep(10)
    const now = threads()
    still = now.ticks === ticks && /^S+$/.test(now.states) ? still + 1 : 0
    ticks = now.ticks
  }
}

const skip = existsSync(kTasks) ? false : 'no /proc'
test('all threads sleep while the reader of an answer waits', { skip }, async () => {
  using model = await load(stories, { threads: 3, contextLength: 128 })
  const pieces = model.generate('Once upon a time', kEndless)
  for (let read = 0; read < 3; read++) {
    await pieces.next()
    await rest() // at first the engine may still be ahead of the reader by less than its limit
  }
  await pieces.return({} as never)
})

test('a slow reader gets the same answer', { skip }, async () => {
  using model = await load(stories, { threads: 1, contextLength: 256 })
  const texts: string[] = []
  for (const slow of [false, true]) {
    let text = ''
    let pieceCount = 0
    const pieces = model.generate('Once upon a time', { seed: 3, maxTokens: 150, ignoreEnd: true })
    for await (const piece of pieces) {
      text += piece.text
      if (slow && pieceCount++ % 40 === 0) await rest()
    }
    texts.push(text)
  }
  assert.equal(texts[1], texts[0])
})

test('a slow reader may call the model, abort and leave', { skip }, async () => {
  using model = await load(stories, { threads: 2, contextLength: 128, maxForks: 1 })
  using fork = await model.fork()
  let read = 0
  for await (const _ of model.generate('Once upon a time', { ...kEndless, maxTokens: 200 })) {
    if (++read > 3) break
    await rest()
    let others = 0
    for await (const _ of fork.generate('A bee', { maxTokens: 5, seed: 1, ignoreEnd: true })) others++
    assert.equal(others, 5)
    assert.equal((await model.embed('A bee')).length, model.info.embeddingLength)
  }
  const control = new AbortController()
  const pieces = model.generate('Once upon a time', { ...kEndless, signal: control.signal })
  await pieces.next()
  await rest()
  control.abort(new Error('enough'))
  await assert.rejects(async () => {
    for await (const _ of pieces);
  }, /enough/)
  assert.equal((await model.embed('A bee')).length, model.info.embeddingLength)
})

test('an endless answer that nobody reads does not keep a program alive', () => {
  const program = `
    import { readFileSync } from 'node:fs'
    import { load } from ${JSON.stringify(pathToFileURL(packedFile('wasm/dist/engine/index.js')).href)}
    const model = await load(readFileSync(${JSON.stringify(kStories)}), { threads: 2, contextLength: 128 })
    const pieces = model.generate('Once', { ignoreEnd: true, contextShift: true })
    await pieces.next()
    console.log('read')`
  const options = { encoding: 'utf8', timeout: 60_000 } as const
  assert.equal(execFileSync(process.execPath, ['--input-type=module', '--eval', program], options), 'read\n')
})
