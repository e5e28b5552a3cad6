// The viewer's main tasks in Chromium, Firefox and WebKit, on a desktop and on a phone: open, search, a tensor's values, edit and save, compare,
// tokenize, find and add tokens, render a template, convert, graph, memory, complete, share, change the language, fix a
// finding, transcribe, record, ask about an image, find outliers, zoom to an element, open a model of a hub. The results must be
// the same in all browsers. The number of steps, which are clicks and entries, is the one in the documentation.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { kBrowserNames, missing, startBrowser, type Driven, type Page } from '../browsers/drive.ts'
import { askAboutImage, giveHands, playsSound, recordSpeech, type Hands } from '../browsers/hands.ts'
import { writeGguf, type Model } from '../fixtures/gguf.ts'
import { text, u32 } from '../fixtures/models.ts'
import { kAll } from '../fixtures/short.ts'
import { withTemplate } from '../fixtures/templated.ts'
import { startHub } from '../server/hub.ts'
import { startServer, type Server } from '../server/server.ts'
import { kSample, kSpeechSample } from '../../web/src/lib/file/samples.ts'
import { skipWithout } from '../fixtures/skip-without.ts'
import { kRoot, loadNodePackage } from './packed.ts'

const dist = join(kRoot, 'web/dist')
const stories = readFileSync(join(import.meta.dirname, '../fixtures/stories.gguf'))
const vectors = join(kRoot, '../shared/vectors/media/vision')
const { open } = await loadNodePackage()

/** The number of tokens that the package counts in the text of the task "count a file". */
const kCounted = await (async () => {
  const file = await open(stories)
  const tokens = file.tokenizer().count('Once upon a time, there were bees.\n'.repeat(40_000))
  file.close()
  return tokens.toLocaleString('en')
})()

declare const hands: Hands

const kTasks: readonly [name: string, run: () => Promise<unknown>, expected: unknown][] = [
  [
    'open',
    async () => {
      await hands.text(/2\.03 million parameters/)
      // Where it has room, no part of it is cut. On a phone it has none.
      const cut = [...document.querySelectorAll('h1 span')].filter((span) => {
        const text = document.createRange()
        text.selectNodeContents(span)
        return innerWidth > 720 && text.getBoundingClientRect().width > span.getBoundingClientRect().width
      })
      return [document.querySelector('h1')?.innerText, cut.length]
    },
    [kSample, 0],
  ],
  [
    'search metadata',
    async () => {
      await hands.go('metadata')
      await hands.type('input[type=search]', 'chat_template')
      return await hands.text(/1 of \d+ keys/)
    },
    '1 of 34 keys',
  ],
  [
    "a tensor's values",
    async () => {
      await hands.go('tensors', 'blk.0.attn_norm.weight')
      await hands.press('Values as a table')
      const cell = await hands.until(
        () => [...hands.panel().querySelectorAll('td')].find(({ innerText }) => /\d\.\d/.test(innerText)),
        'a value',
      )
      return Number.isFinite(Number(cell.innerText))
    },
    true,
  ],
  [
    'edit and save',
    async () => {
      await hands.go('edit', 'general.name')
      await hands.type('.form textarea', 'walked')
      await hands.until(() => document.querySelector('#tab-edit .badge'), 'a change')
      await hands.press('Changes')
      await hands.press('Save the new file')
      const file = await hands.until(() => hands.saved[0], 'a saved file')
      return (await file.slice(0, 4000).text()).includes('walked')
    },
    true,
  ],
  [
    'convert',
    async () => {
      await hands.go('convert')
      await hands.press('Extract tensors')
      await hands.press('Save the new file')
      const file = await hands.until(() => hands.saved[1], 'a saved file')
      return (await file.slice(8, 40).text()).startsWith('{"__metadata__":')
    },
    true,
  ],
  [
    'tokenize',
    async () => {
      await hands.go('tokenizer')
      await hands.type('textarea', 'Once upon a time')
      await hands.until(() => hands.panel().querySelectorAll('.chips li').length === 4, 'four tokens')
      return hands.panel().querySelectorAll('.chips li').length
    },
    4,
  ],
  [
    'find a token',
    async () => {
      await hands.type('input[aria-label="Search the vocabulary"]', ' little')
      return await hands.text(/\d+ found/)
    },
    '1 found',
  ],
  [
    'count a file',
    async () => {
      const transfer = new DataTransfer()
      transfer.items.add(new File(['Once upon a time, there were bees.\n'.repeat(40_000)], 'long.txt'))
      const input = document.querySelector<HTMLInputElement>('input[aria-label="Text file to count"]')!
      hands.steps++
      input.files = transfer.files
      input.dispatchEvent(new Event('change', { bubbles: true }))
      return /^[\d,]+/.exec(await hands.text(/[\d,]+\s+tokens\s+in long\.txt, 1\.4 MB/))?.[0]
    },
    kCounted,
  ],
  [
    'add a token',
    async () => {
      await hands.go('edit')
      await hands.press('Tokens')
      await hands.type('form input', '<|ship|>')
      await hands.press('Add the token')
      return await hands.text(/<\|ship\|>/)
    },
    '<|ship|>',
  ],
  [
    'render a template',
    async () => {
      await hands.go('template')
      await hands.text(/How many ships/)
      return true
    },
    true,
  ],
  [
    'compare',
    async () => {
      await hands.go('compare')
      await hands.type('form input', new URLSearchParams(location.search).get('url')!)
      await hands.press('Compare')
      return await hands.text(/The headers are the same\./)
    },
    'The headers are the same.',
  ],
  [
    'graph',
    async () => {
      await hands.go('graph')
      await hands.text(/Blocks 0 to \d+ \(× \d+\)/)
      return true
    },
    true,
  ],
  [
    'save the graph as a picture',
    async () => {
      const before = hands.saved.length
      await hands.press('Save PNG')
      const picture = await createImageBitmap(await hands.until(() => hands.saved[before], 'a picture'))
      return picture.width > 800 && picture.height > 800
    },
    true,
  ],
  [
    'what fits',
    async () => {
      await hands.go('memory')
      return (await hands.text(/It fits|fits/i)).toLowerCase().includes('fits')
    },
    true,
  ],
  [
    'complete a text',
    async () => {
      await hands.go('run')
      await hands.press('Complete a text')
      await hands.type('textarea', 'Once upon a time')
      await hands.press('Complete')
      await hands.text(/\d tokens?, .* ms/)
      return true
    },
    true,
  ],
  [
    'answer as JSON',
    async () => {
      // The answer before has ended.
      await hands.text(/\d ms\./)
      if (innerWidth < 720) await hands.press('Options')
      await hands.press('Answer as JSON')
      await hands.press('Add a field')
      await hands.type('.schema input[type=text]', 'who')
      await hands.press('Complete')
      const read = () => {
        try {
          const text = hands.panel().querySelector<HTMLElement>('[data-testid=answer]')?.innerText ?? ''
          return Object.keys(JSON.parse(text) as object)
        } catch {
          return undefined
        }
      }
      return await hands.until(read, 'an answer in JSON')
    },
    ['who'],
  ],
  [
    'share',
    async () => {
      await hands.press('Copy link')
      return location.search + location.hash
    },
    `?url=${kSample}&with=${kSample}#run/complete`,
  ],
  [
    'change the language',
    async () => {
      const list = document.querySelector<HTMLSelectElement>('header select')!
      const told: string[] = []
      for (const code of ['de', 'zh-Hans', 'en']) {
        hands.steps++
        list.value = code
        list.dispatchEvent(new Event('change', { bubbles: true }))
        await hands.until(() => document.documentElement.lang === code, code)
        if (told.length === 0) await hands.go('overview')
        told.push(await hands.text(/2[.,]?03 ?(Millionen|万|million)/))
      }
      return told
    },
    ['2,03 Millionen', '203万', '2.03 million'],
  ],
]

const kGuide = readFileSync(join(kRoot, 'web/docs/guides/viewer-compared.md'), 'utf8')
/** The documented numbers of steps on a desktop and on a phone. */
function stepsOf(task: string): { desktop: number; phone: number } {
  const [, desktop, phone] = new RegExp(`^\\| ${task} +\\| +(\\d+) \\| +(\\d+) \\|$`, 'm').exec(kGuide) ?? []
  return { desktop: Number(desktop), phone: Number(phone) }
}

const kSizes = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } }

// tests/web has more for Chromium.
const kWalks = kBrowserNames.flatMap((name) =>
  (['desktop', 'phone'] as const)
    .filter((kind) => kAll || (name !== 'chromium' && (kind === 'phone') === (name === 'webkit')))
    .map((kind) => [name, kind] as const),
)
for (const [name, kind] of kWalks) {
  const skip = missing(name) || (!existsSync(join(dist, 'index.html')) && 'the viewer is not built')
  describe(`the viewer in ${name} on a ${kind}`, { skip }, () => {
    let server: Server
    let browser: Driven
    let page: Page
    async function go(address: string): Promise<void> {
      await page.goto(server.url + address)
      await page.evaluate(giveHands)
    }
    before(async () => {
      server = await startServer({ isolated: true })
      server.mount('/', dist)
      browser = await startBrowser(name)
      page = await browser.newPage(kSizes[kind])
      await go(`/?url=${kSample}`)
    })
    after(async () => {
      await browser.close()
      await server.close()
    })
    async function walked<T, A>(task: string, run: (argument: A) => Promise<T>, argument?: A): Promise<T> {
      await page.evaluate(() => (hands.steps = 0))
      const result = await page.evaluate(run, argument)
      assert.equal(await page.evaluate(() => hands.steps), stepsOf(task)[kind], `steps to ${task}`)
      return result
    }
    test('the page has its size', async () => {
      const width = await page.evaluate(() => innerWidth)
      assert.ok(kind === 'phone' ? width < 500 : width > 1000, `${width}`)
    })
    test('the wasm module is requested once', async () => {
      await page.evaluate(() => hands.text(/2\.03 million parameters/))
      // The service worker fetches it for itself.
      const isPage = ({ path, headers }: Server['log'][number]): boolean =>
        /inspect-[^/]*\.wasm$/.test(path) && !headers.referer?.includes('service-worker')
      assert.equal(server.log.filter(isPage).length, 1)
    })
    for (const [task, run, expected] of kTasks)
      test(task, async () => assert.deepEqual(await walked(task, run), expected))

    test('find what is wrong and fix it', async () => {
      const metadata: Model['metadata'] = [
        ['general.architecture', text('llama')],
        ['general.version', u32(1)],
      ]
      server.add('/odd.gguf', writeGguf({ metadata, tensors: [] }))
      await go('/?url=/odd.gguf#findings')
      const told = await walked('find what is wrong and fix it', async () => {
        await hands.press('Store it as string')
        await hands.press('See the changes')
        return await hands.text(/The checks find nothing to report in the file with this change/)
      })
      assert.match(told, /with this change$/)
    })

    test('find outliers', async () => {
      const outlying = (i: number): number => Math.sin(i) * (i % 256 === 77 ? 30 : 1)
      const floats = Float32Array.from({ length: 256 * 64 }, (_, i) => outlying(i))
      const data = new Uint8Array(floats.buffer)
      server.add(
        '/outliers.gguf',
        writeGguf({ tensors: [{ name: 'w', shape: [256, 64], type: 'F32', data }] }),
      )
      await go('/?url=/outliers.gguf#tensors/w')
      const column = await walked('find outliers', async () => {
        await hands.press('column 77:')
        const label = (): HTMLElement | undefined =>
          [...hands.panel().querySelectorAll('label')].find((one) => one.innerText.trim() === 'Column')
        return (await hands.until(label, 'the column')).querySelector('input')!.value
      })
      assert.equal(column, '77')
    })

    test('zoom to an element', async () => {
      const told = await walked('zoom to an element', async () => {
        const find = (): HTMLElement | null => hands.panel().querySelector('[role=application]')
        const picture = await hands.until(find, 'the picture')
        picture.focus()
        hands.steps += 4
        for (const key of ['Home', 'Enter', 'ArrowRight', 'ArrowDown'])
          picture.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))
        return await hands.text(/row \d+, column \d+: -?\d\S*/)
      })
      const [, row, column, value] = /row (\d+), column (\d+): (\S+)/.exec(told)!
      const place = 256 * Number(row) + Number(column)
      const expected = Math.fround(Math.sin(place) * (Number(column) === 77 ? 30 : 1))
      assert.ok(Math.abs(Number(value) - expected) < 1e-5, `${told}, expected ${expected}`)
    })

    test('open a model of a hub', async () => {
      const repository = {
        id: 'someone/stories-GGUF',
        files: { 'stories-Q4_K_M.gguf': stories, 'stories-F16.gguf': stories },
      }
      const hub = await startHub([repository])
      try {
        await go('/')
        const title = await walked(
          'open a model of a hub',
          async (address: string) => {
            const heading = (): string => document.querySelector('h1')!.innerText
            await hands.press('Server and access token')
            await hands.type('input[placeholder="https://huggingface.co"]', address)
            await hands.press('Save')
            await hands.type('input[aria-label="Name of a model"]', 'stories')
            await hands.press('Search')
            await hands.press('someone/stories-GGUF')
            await hands.press('Q4_K_M')
            await hands.until(() => heading() === 'stories-Q4_K_M.gguf', 'the model')
            return heading()
          },
          hub.url,
        )
        assert.equal(title, 'stories-Q4_K_M.gguf')
      } finally {
        await hub.close()
      }
    })

    test('transcribe', async () => {
      await go(`/?url=${kSpeechSample}#transcribe`)
      const heard = await walked('transcribe', async () => {
        await hands.press('Use the sample recording')
        return await hands.text(/The owl carried the lamp\./)
      })
      assert.equal(heard, 'The owl carried the lamp.')
    })

    test('record with the microphone', async (t) => {
      server.add('/commands.wav', readFileSync(join(kRoot, 'tests/fixtures/commands.wav')))
      await go('/')
      if (!(await page.evaluate(playsSound))) return t.skip('this browser has no sound device')
      await go(`/?url=${kSpeechSample}#transcribe`)
      const result = await walked('record with the microphone', recordSpeech, '/commands.wav')
      assert.deepEqual(result, { heard: 'owl carried the lamp.', recording: true })
    })

    test('ask about an image', { skip: skipWithout(vectors) }, async () => {
      server.add('/sees.gguf', await withTemplate(open, join(vectors, 'qwen2vl/model.gguf')))
      server.mount('/vectors/', vectors)
      await go('/?url=/sees.gguf#run')
      const answered = await walked('ask about an image', askAboutImage)
      assert.deepEqual(answered, { images: 1, finished: true })
    })
  })
}
