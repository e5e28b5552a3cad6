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

/** Processor time of all threads of this process, in hundredths of a second. */
function ticks(): number {
  const times = readdirSync(kTasks).map((task) => {
    try {
      // The name in parentheses may have spaces; user and system time are the 14th and 15th field.
      const fields = readFileSync(`${kTasks}/${task}/stat`, 'utf8').split(') ')[1]!.split(' ')
      return Number(fields[11]) + Number(fields[12])
    } catch {
      return 0 // it has just ended
    }
  })
  return times.reduce((sum, time) => sum + time, 0)
}

async function ticksOfOneSecond(): Promise<number> {
  const before = ticks()
  await sleep(1000)
  return ticks() - before
}

const skip = existsSync(kTasks) ? false : 'no /proc'
test('all threads sleep while the reader of an answer waits', { skip }, async () => {
  using model = await load(stories, { threads: 3, contextLength: 128 })
  const pieces = model.generate('Once upon a time', kEndless)
  for (let read = 0; read < 3; read++) {
    await pieces.next()
    let used = await ticksOfOneSecond() // the engine may still be ahead of the reader by less than its limit
    for (let tries = 0; tries < 20 && used > 10; tries++) used = await ticksOfOneSecond()
    assert.ok(used <= 10, `${used} hundredths of a second of processor time in one second`)
  }
  await pieces.return({} as never)
})

test('a slow reader gets the same answer', async () => {
  using model = await load(stories, { threads: 1, contextLength: 256 })
  const texts: string[] = []
  for (const ms of [0, 1]) {
    let text = ''
    const pieces = model.generate('Once upon a time', { seed: 3, maxTokens: 150, ignoreEnd: true })
    for await (const piece of pieces) {
      text += piece.text
      if (ms > 0 && piece.token % 4 === 0) await sleep(ms)
    }
    texts.push(text)
  }
  assert.equal(texts[1], texts[0])
})

test('a slow reader may call the model, abort and leave', async () => {
  using model = await load(stories, { threads: 2, contextLength: 128, maxForks: 1 })
  using fork = await model.fork()
  let read = 0
  for await (const _ of model.generate('Once upon a time', { ...kEndless, maxTokens: 200 })) {
    if (++read > 3) break
    await sleep(100) // it rests
    let others = 0
    for await (const _ of fork.generate('A bee', { maxTokens: 5, seed: 1, ignoreEnd: true })) others++
    assert.equal(others, 5)
    assert.equal((await model.embed('A bee')).length, model.info.embeddingLength)
  }
  const control = new AbortController()
  const pieces = model.generate('Once upon a time', { ...kEndless, signal: control.signal })
  await pieces.next()
  await sleep(100)
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
