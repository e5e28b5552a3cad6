// The panel Graph: the flow of every architecture, the treemap and the layers, each with a table, by mouse and
// keyboard.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { blockFlow, placeOf, rolesOf, takes, wired } from '../../web/src/lib/graph/flow.ts'
import { squarify } from '../../web/src/lib/graph/treemap.ts'
import { wirings } from '../../web/src/lib/graph/wirings.ts'
import { writeGguf, type Tensor } from '../fixtures/gguf.ts'
import { smallModel } from '../fixtures/models.ts'
import { everyNth, kAll } from '../fixtures/short.ts'
import { kSample, kVoiceSample } from '../../web/src/lib/file/samples.ts'
import { downloaded, expect, test, type Page } from './site.ts'

/** The tensor roles of each architecture's blocks, from the core's table of tensors. */
function rolesByArchitecture(): [names: string, roles: string[]][] {
  const text = readFileSync(join(import.meta.dirname, '../../core/gguf/tensors.inc'), 'utf8').replaceAll(
    /"\s*\n\s*"/g,
    '',
  )
  const parts = new Map(
    [...text.matchAll(/\{"(@\w+)", "([^"]*)"\}/g)].map(([, name = '', of = '']) => [name, of]),
  )
  const whole = (list: string): string => list.replaceAll(/@\w+/g, (name) => whole(parts.get(name) ?? ''))
  const rows = text
    .slice(text.indexOf('kTensorRows'))
    .matchAll(/\{"([a-z0-9_. -]+)", "[\w.]*",\s*((?:"[^"]*",?\s*)+)\}/g)
  return [...rows].map(([, names = '', texts = '']) => {
    const [, block = ''] = [...texts.matchAll(/"([^"]*)"/g)].map(([, one = '']) => whole(one))
    const roles = block
      .split(/[\s;|]+/)
      .filter((one) => one && !one.startsWith('='))
      .map((one) => one.replace(/^\?|:.*|\.$/g, '').replace(/\.(bias|scale)?$/, ''))
    return [names, [...new Set(roles)]]
  })
}

const kTensor = (name: string): Tensor => ({ name, shape: [32, 32], type: 'F32' })
/** The tensors of a block, with norms of queries and keys or without. */
const kBlock = (norms: boolean): Tensor[] =>
  ['attn_norm', 'attn_q', 'attn_k', 'attn_v', ...(norms ? ['attn_q_norm', 'attn_k_norm'] : []), 'attn_output']
    .concat('ffn_norm', 'ffn_gate', 'ffn_up', 'ffn_down')
    .map((role) => kTensor(`blk.0.${role}.weight`))

/** The tensors that a flow does not name; it must have no cycle, and no dead end if it names all. */
function missingIn({ names, edges }: ReturnType<typeof wired>, roles: readonly string[], of: string) {
  const missing = roles.filter((role) => !names.includes(role))
  const operations = names.filter((name) => !name.startsWith('*') && !roles.includes(name))
  expect(operations, of).toEqual([])
  // Kahn's algorithm proves that the graph has no cycle.
  let rest = [...edges]
  const left = new Set(names)
  for (let before = -1; before !== left.size;) {
    before = left.size
    for (const name of left) if (!rest.some(([, to]) => to === name)) left.delete(name)
    rest = rest.filter(([from]) => left.has(from))
  }
  expect([...left], of).toEqual([])
  const ends = names.filter((name) => name !== '*out' && !edges.some(([from]) => from === name))
  if (missing.length === 0) expect(ends, of).toEqual([])
  return missing
}

test('the graph of an architecture has all its tensors, no circle and no dead end', () => {
  const rows = rolesByArchitecture()
  expect(rows.length).toBeGreaterThan(85)
  const whole = new Set<string>()
  for (const [architecture, roles] of rows) {
    const wiring = wirings.find(({ blocks, flow }) => blocks === 'blk' && takes(flow, roles))
    if (!wiring) continue
    const flow = wiring.flow === undefined ? blockFlow(roles, false) : wired(wiring.flow, roles)
    if (missingIn(flow, roles, architecture).length === 0)
      for (const name of architecture.split(' ')) whole.add(name)
  }
  expect(whole.size).toBeGreaterThan(85)
  for (const name of [
    'llama',
    'qwen3moe',
    'gemma3',
    'phi3',
    'deepseek2',
    'gpt-oss',
    'bert',
    'mamba',
    'mamba2',
    'rwkv6',
    'rwkv7',
    'qwen35',
  ])
    // prettier-ignore
    expect([...whole]).toContain(name)
  for (const { blocks, flow } of wirings)
    if (blocks && flow) expect(missingIn(wired(flow, [...rolesOf(flow)]), [...rolesOf(flow)], blocks)).toEqual([]) // prettier-ignore
})

test('the blocks of Whisper and of encoders of pictures as they are computed', () => {
  const edgesIn = (blocks: string) => {
    const { flow = '' } = wirings.find((row) => row.blocks === blocks)!
    return wired(flow, [...rolesOf(flow)].filter((role) => !/^ls|_norm$/.test(role))).edges // prettier-ignore
  }
  const picture = edgesIn('v.blk')
  for (const edge of [
    '*in ln1',
    '*attention attn_out',
    'attn_out *add1',
    '*in *add1',
    '*add1 ln2',
    'ffn_down *add2',
  ])
    expect(picture).toContainEqual(edge.split(' '))
  const decoder = edgesIn('decoder.blocks')
  for (const edge of [
    '*encoder cross_attn.key',
    '*add1 cross_attn_ln',
    '*cross cross_attn.out',
    'mlp.0 *act',
    '*act mlp.2',
    '*addcross mlp_ln',
  ])
    expect(decoder).toContainEqual(edge.split(' '))
  expect(edgesIn('encoder.blocks').flat()).not.toContain('*encoder')
})

test('a transformer block as llama.cpp computes it', () => {
  const roles = 'attn_norm attn_q attn_k attn_v attn_output ffn_norm ffn_gate ffn_up ffn_down'.split(' ')
  const { edges } = blockFlow(roles, false)
  const lines = edges.map(([from, to]) => `${from} > ${to}`).sort()
  expect(lines).toEqual(
    [
      '*in > attn_norm', 'attn_norm > attn_q', 'attn_norm > attn_k', 'attn_norm > attn_v', 'attn_q > *attention',
      'attn_k > *attention', 'attn_v > *attention', '*attention > attn_output', 'attn_output > *add1', '*in > *add1',
      '*add1 > ffn_norm', 'ffn_norm > ffn_gate', 'ffn_norm > ffn_up', 'ffn_gate > *act', 'ffn_up > *act',
      '*act > ffn_down', 'ffn_down > *add2', '*add1 > *add2', '*add2 > *out',
    ].sort(),
  ) // prettier-ignore
  // Falcon's attention and feed-forward network run in parallel on the same norm.
  const parallel = blockFlow('attn_norm attn_qkv attn_output ffn_up ffn_down'.split(' '), false).edges
  expect(parallel).toContainEqual(['attn_norm', 'ffn_up'])
  expect(parallel).not.toContainEqual(['*add1', 'ffn_up'])
})

test('the areas of the treemap are those of its sizes, side by side', () => {
  const sizes = Array.from({ length: 40 }, (_, i) => 1000 / (i + 1) ** 1.3)
  const total = sizes.reduce((a, b) => a + b, 0)
  const areas = squarify(sizes, { x: 0, y: 0, width: 600, height: 400 })
  expect(areas.length).toBe(sizes.length)
  for (const [i, { x, y, width, height }] of areas.entries()) {
    expect(width * height).toBeCloseTo((sizes[i]! / total) * 240_000, 6)
    expect(Math.max(width / height, height / width)).toBeLessThan(4)
    expect(x + width).toBeLessThan(600.001)
    expect(y + height).toBeLessThan(400.001)
    for (const other of areas.slice(i + 1)) {
      const across = Math.min(x + width, other.x + other.width) - Math.max(x, other.x)
      const down = Math.min(y + height, other.y + other.height) - Math.max(y, other.y)
      expect(Math.min(across, down)).toBeLessThan(1e-6)
    }
  }
  expect(
    squarify([0, 0], { x: 0, y: 0, width: 10, height: 10 }).every(({ width }) => Number.isFinite(width)),
  ).toBe(true)
})

test('where the connections are not known, tensors are listed without arrows', async ({ page, site }) => {
  await site.visit(page, kVoiceSample, '#graph')
  await expect(
    page.getByText('The page does not know how this architecture connects its tensors'),
  ).toBeVisible()
  await expect(page.locator('.edge')).toHaveCount(0)
  await expect(page.getByRole('button', { name: 'Save PNG' })).toBeHidden()
  await page.getByText('text_encoder', { exact: true }).click()
  await page.getByRole('button', { name: /^embedding_weight F16/ }).click()
  await expect(page.getByRole('heading', { name: /^kokoro\.text_encoder\./ })).toBeVisible()
  const model = smallModel()
  const surplusTensor: Tensor = {
    name: 'blk.0.attn_rot_embd.weight',
    type: 'F32',
    shape: [8],
    data: new Uint8Array(32),
  }
  site.add('/surplus.gguf', writeGguf({ ...model, tensors: [...model.tensors!, surplusTensor] }))
  await site.visit(page, '/surplus.gguf', '#graph')
  const surplus = page.getByRole('button', { name: /attn_rot_embd/ })
  await expect(surplus).toHaveText(/unused: llama.cpp does not know it/)
  await expect(page.locator('.node').filter({ hasText: 'attn_rot' })).toHaveCount(0)
  await expect(page.locator('.edge').first()).toBeAttached()
})

test('equal blocks are folded, and a step opens its tensor in the chosen block', async ({ page, site }) => {
  const model = smallModel()
  site.add('/graph.gguf', writeGguf(model))
  await site.visit(page, '/graph.gguf', '#graph')
  const blocks = new Set((model.tensors ?? []).flatMap(({ name }) => /^blk\.\d+/.exec(name)?.[0] ?? []))
  await expect(
    page.getByRole('heading', { name: `Blocks 0 to ${blocks.size - 1} (× ${blocks.size})` }),
  ).toBeVisible()
  await page.getByLabel('A step opens its tensor of block').selectOption('1')
  const step = page.getByRole('button', { name: /^Query .*blk\.1\.attn_q\.weight/ })
  await step.focus()
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { name: 'blk.1.attn_q.weight' })).toBeVisible()
  // The table contains everything that is drawn.
  await page.getByRole('tab', { name: 'Graph' }).click()
  await page.getByText('The graph as a table').click()
  const table = page.getByRole('region', { name: 'The graph as a table' })
  await expect(table.getByRole('row', { name: /Query blk\.0\.attn_q\.weight/ })).toContainText('attn_norm')
  const outside = (model.tensors ?? []).filter(({ name }) => !name.startsWith('blk.'))
  for (const { name } of outside)
    await expect(table.getByRole('button', { name, exact: true }).first()).toBeVisible()
  // Without a matrix of its own, the output uses that of the token embedding.
  const output = table.getByRole('row').filter({ hasText: 'Output (logits)' })
  await expect(output.getByRole('button', { name: 'token_embd.weight', exact: true })).toBeVisible()
})

for (const [width, norms] of [
  [320, false],
  [320, true],
  [390, true],
] as const)
  test(`the whole flow is in view at ${width} px${norms ? ', with norms of queries and keys' : ''}`, async ({
    page,
    site,
  }) => {
    await page.setViewportSize({ width, height: 740 })
    site.add('/flow.gguf', writeGguf({ metadata: [], tensors: kBlock(norms) }))
    await site.visit(page, '/flow.gguf', '#graph')
    const value = page.getByRole('button', { name: /^Value attn_v/ })
    await value.scrollIntoViewIfNeeded()
    await expect(value).toBeInViewport({ ratio: 1 })
    // Keys go through the steps from the top down.
    const tops = await page
      .locator('.flow section')
      .first()
      .locator('button')
      .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().top))
    expect(tops.length).toBeGreaterThan(8)
    expect(tops).toEqual(tops.toSorted((a, b) => a - b))
    const sections = page.locator('.flow .scroll')
    const wide = await sections.evaluateAll((all) =>
      all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.scrollWidth),
    )
    expect(wide).toEqual([])
    // Lines that pass beside the steps are in the picture.
    const outside = await sections.locator('svg').evaluateAll((all) =>
      all.flatMap((svg) => {
        const { left, right } = svg.getBoundingClientRect()
        return [...svg.querySelectorAll('.edge')].filter((edge) => {
          const box = edge.getBoundingClientRect()
          return box.left < left || box.right > right
        }).length
      }),
    )
    expect(outside).toEqual(outside.map(() => 0))
  })

test('a flow that is wider than a phone fades at the edge where it goes on', async ({ page, site }) => {
  test.skip(!kAll, 'takes long')
  await page.setViewportSize({ width: 390, height: 740 })
  const experts = [
    'ffn_gate_inp',
    'ffn_gate_exps',
    'ffn_up_exps',
    'ffn_down_exps',
    'ffn_gate_shexp',
    'ffn_up_shexp',
  ]
  const tensors = [...kBlock(true), ...experts.map((role) => kTensor(`blk.0.${role}.weight`))]
  site.add('/experts.gguf', writeGguf({ metadata: [], tensors }))
  await site.visit(page, '/experts.gguf', '#graph')
  const box = page.getByRole('region', { name: 'Steps of Block 0' })
  await expect(box).toHaveAttribute('data-more', 'right')
  await expect(box).toHaveCSS('mask-image', /gradient/)
  await box.evaluate((one) => (one.scrollLeft = 20))
  await expect(box).toHaveAttribute('data-more', 'left right')
  await box.evaluate((one) => (one.scrollLeft = one.scrollWidth))
  await expect(box).toHaveAttribute('data-more', 'left')
})

test('blocks that differ by turns are folded by their pattern', async ({ page, site }) => {
  const tensors = Array.from({ length: 8 }, (_, i): Tensor[] => {
    const names = i % 4 === 3 ? ['attn_q', 'attn_k', 'attn_v', 'attn_output'] : ['ssm_in', 'ssm_out']
    return names.map((name) => ({ name: `blk.${i}.${name}.weight`, shape: [32, 32], type: 'F32' }))
  }).flat()
  site.add('/turns.gguf', writeGguf({ tensors }))
  await site.visit(page, '/turns.gguf', '#graph')
  const headings = page.getByRole('heading', { name: /^Blocks/ })
  await expect(headings).toHaveText([
    'Blocks 0 to 4 (× 2)',
    'Blocks 1 to 5 (× 2)',
    'Blocks 2 to 6 (× 2)',
    'Blocks 3 to 7 (× 2)',
  ])
})

test('the treemap leads from groups to tensors, by keys too', async ({ page, site }) => {
  const model = smallModel()
  site.add('/map.gguf', writeGguf(model))
  await site.visit(page, '/map.gguf', '#graph/bytes')
  const map = page.getByRole('group', { name: /^Bytes/ })
  await expect(map.getByRole('button', { name: /^blk\.0: / })).toBeVisible()
  await page.getByLabel('By role').check()
  const group = map.getByRole('button', { name: /^attn_q: / })
  await group.focus()
  await page.keyboard.press('Enter')
  await page.getByText('The bytes as a table').click()
  await expect(page.getByRole('region', { name: 'The bytes as a table' })).toContainText(
    'blk.1.attn_q.weight',
  )
  await map.getByRole('button', { name: /^blk\.1\.attn_q\.weight: / }).click()
  await expect(page.getByRole('heading', { name: 'blk.1.attn_q.weight' })).toBeVisible()
})

test('a box leaves out what all names begin with, and a long name has its end', async ({ page, site }) => {
  await site.visit(page, kVoiceSample, '#graph/bytes')
  const map = page.getByRole('group', { name: /^Bytes/ })
  await expect(map.getByRole('button', { name: /^kokoro\.albert\.layer\.0: / })).toHaveText('albert.layer.0')
  await expect(map.getByRole('button', { name: /generator\.noise_blocks\.0: / })).toHaveText(
    /^…[\w.]*noise_blocks\.0\s*$/,
  )
})

test('boxes are nested, enlarged by a click, in the order of names, with the shares of the overview', async ({
  page,
  site,
}) => {
  await site.visit(page, kSample)
  const overview = page.getByRole('region', { name: 'Quantization mix, by bytes' })
  await expect(overview.getByRole('row').first()).toBeVisible()
  const rows = (await overview.getByRole('row').allInnerTexts()).slice(1)
  await site.visit(page, kSample, '#graph/bytes')
  const legend = page.getByRole('list', { name: 'Types and their shares' }).getByRole('listitem')
  await expect(legend).toHaveCount(rows.length)
  for (const [i, row] of rows.entries()) {
    const [type, , , , size, share] = row.split(/\t+|\n+/).map((one) => one.trim())
    await expect(legend.nth(i)).toHaveText(`${type} ${size}, ${share}`)
  }
  const map = page.getByRole('group', { name: /^Bytes/ })
  const names = async () =>
    (await map.getByRole('button').evaluateAll((all) => all.map((one) => one.ariaLabel ?? '')))
      .map((one) => one.replace(/:.*/, ''))
      .sort()
  expect(await names()).toEqual(['blk.0', 'blk.1', 'blk.2', 'outside the blocks'])
  const left = async (name: RegExp) => (await map.getByRole('button', { name }).boundingBox())!
  const [first, last] = [await left(/^blk\.0:/), await left(/^blk\.2:/)]
  expect(first.x + first.y).toBeLessThan(last.x + last.y)
  // The whole picture is in view, and narrow boxes have their names, too.
  const whole = (await map.boundingBox())!
  expect(whole.y + whole.height).toBeLessThan(800)
  await expect(map.locator('.text', { hasText: /^attn_k$/ })).toHaveCount(3)
  // Among tensors of one role, the block says which one it is.
  await page.getByLabel('By role').check()
  await expect(map.locator('.text', { hasText: /^blk\.1$/ }).first()).toBeVisible()
  await expect(map.locator('.text', { hasText: /^attn_k$/ })).toHaveCount(0)
  await page.getByLabel('By block').check()
  // The tensors are drawn within the blocks, each in its type's colour.
  expect(await map.locator('path').count()).toBe(rows.length)
  await map.getByRole('button', { name: /^blk\.1:/ }).click()
  expect(await names()).toEqual(['attention', 'feed-forward network'])
  await map.getByRole('button', { name: /^attention:/ }).press('Enter')
  await expect(map.getByRole('button', { name: /^blk\.1\.attn_q\.weight:/ })).toBeVisible()
  await map.getByRole('button', { name: /^blk\.1\.attn_q\.weight:/ }).press('Escape')
  await page.getByRole('button', { name: 'The whole file' }).click()
  await expect(map.getByRole('button', { name: /^blk\.0:/ })).toBeVisible()
})

test('factors of RoPE belong to the attention, and query, key and value stand in this order', async ({
  page,
  site,
}) => {
  test.skip(!kAll, 'takes long')
  const names = ['attn_norm', 'attn_v', 'attn_k', 'attn_q', 'attn_output', 'ffn_up', 'ffn_down']
  const one = (name: string): Tensor => ({ name, shape: [8, 8], type: 'F32' })
  const blocks = [0, 1].flatMap((i) => names.map((name) => one(`blk.${i}.${name}.weight`)))
  site.add(
    '/rope.gguf',
    writeGguf({ tensors: [one('token_embd.weight'), one('rope_freqs.weight'), ...blocks] }),
  )
  await site.visit(page, '/rope.gguf', '#graph')
  const part = page.getByRole('region', { name: /^Steps of Blocks 0 to/ })
  const place = async (name: RegExp) => (await part.getByRole('button', { name }).boundingBox())!
  const [query, key, value] = [await place(/^Query /), await place(/^Key /), await place(/^Value /)]
  expect(query.x).toBeLessThan(key.x)
  expect(key.x).toBeLessThan(value.x)
  await expect(part.getByRole('button', { name: /^Frequencies of RoPE/ })).toBeVisible()
  await expect(page.getByRole('button', { name: /rope_freqs/ })).toHaveCount(1)
  expect(blockFlow(['attn_q', 'rope_freqs'], false).edges).toContainEqual(['rope_freqs', '*attention'])
})

test('the layers show types, and the size of values once they are read', async ({ page, site }) => {
  const model = smallModel()
  site.add('/layers.gguf', writeGguf({ ...model, tensors: model.tensors!.toReversed() }))
  await site.visit(page, '/layers.gguf', '#graph/layers')
  const table = page.getByRole('region', { name: 'Layers' })
  // In the order of the flow, not of the file.
  await expect(table.getByRole('columnheader')).toHaveText(['Block', 'Bytes', 'attn_norm', 'attn_q'])
  const parts =
    'attn_norm attn_q attn_k attn_v attn_output ssm_conv1d ssm_conv1d_q ssm_out ssm_z ffn_norm ffn_gate ffn_up ffn_down other'
  expect(parts.split(' ').sort().sort((a, b) => placeOf(a) - placeOf(b)).join(' ')).toBe(parts) // prettier-ignore
  const cell = table.getByRole('button', { name: /^blk\.1\.attn_q\.weight: / })
  await expect(cell).not.toContainText('.')
  await page.getByRole('button', { name: /^Read all values \(\d/ }).click()
  await expect(cell).toHaveAccessibleName(/RMS [\d.e-]+, \d+ outlier columns?$/)
  await expect(page.getByRole('button', { name: /^Read all values/ })).toBeHidden()
  await cell.click()
  await expect(page.getByRole('heading', { name: 'blk.1.attn_q.weight' })).toBeVisible()
})

test('of a file with thousands of roles and kinds of blocks, a bounded part is drawn', async ({
  page,
  site,
}) => {
  const amount = 3000
  const numbers = Array.from({ length: amount }, (_, i) => i)
  const one = (name: string): Tensor => ({ name, shape: [4], type: 'F32' })
  site.add('/roles.gguf', writeGguf({ tensors: numbers.map((i) => one(`blk.0.role_${i}.weight`)) }))
  site.add('/outside.gguf', writeGguf({ tensors: numbers.map((i) => one(`outside_${i}.weight`)) }))
  site.add('/kinds.gguf', writeGguf({ tensors: numbers.map((i) => one(`blk.${i}.role_${i}.weight`)) }))
  for (const [path, told] of [
    ['/roles.gguf', '2,904 more tensors, not drawn here.'],
    ['/outside.gguf', '2,904 more tensors, not drawn here.'],
    ['/kinds.gguf', 'Only the first 40 parts are drawn.'],
  ] as const) {
    await site.visit(page, path, '#graph')
    await expect(page.getByText(told)).toBeVisible()
    expect(await page.locator('.node').count()).toBeLessThan(400)
    for (const view of ['bytes', 'layers']) {
      await site.visit(page, path, `#graph/${view}`)
      await expect(page.getByRole('tabpanel').filter({ visible: true })).not.toBeEmpty()
      expect(await page.locator('*').count(), `${path} ${view}`).toBeLessThan(40_000)
    }
  }
})

/** The size of a PNG file, and the number of its pixels that have each of these colours, decoded by the browser. */
function pixels(page: Page, png: Buffer, colors: readonly string[]) {
  return page.evaluate(
    async ([data, wanted]) => {
      const bytes = Uint8Array.from(atob(data), (char) => char.charCodeAt(0))
      const image = await createImageBitmap(new Blob([bytes], { type: 'image/png' }))
      const { width, height } = image
      const context = new OffscreenCanvas(width, height).getContext('2d')!
      const single = new OffscreenCanvas(1, 1).getContext('2d')!
      context.drawImage(image, 0, 0)
      const values = new Uint32Array(context.getImageData(0, 0, width, height).data.buffer)
      const counts = wanted.map((color) => {
        single.fillStyle = color
        single.fillRect(0, 0, 1, 1)
        const [value] = new Uint32Array(single.getImageData(0, 0, 1, 1).data.buffer)
        return values.filter((one) => one === value).length
      })
      return { width, height, counts }
    },
    [png.toString('base64'), colors] as const,
  )
}

test('the graph and the treemap are saved as PNG, in the colours of the page', async ({ page, site }) => {
  for (const colorScheme of everyNth(['dark', 'light'] as const, 2)) {
    await page.emulateMedia({ colorScheme })
    await site.visit(page, kSample, '#graph')
    const nodes = page.locator('button.node')
    await expect(nodes.first()).toBeVisible()
    const paper = await page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    const edges = await nodes.evaluateAll((all) =>
      all.map((node) => getComputedStyle(node).borderInlineStartColor),
    )
    const types = [...new Set(edges)]
    expect(types.length).toBeGreaterThan(1)
    const graph = await downloaded(page, 'Save PNG')
    expect(graph.name).toBe(`${kSample}.graph.png`)
    const drawn = await pixels(page, graph.bytes, [paper, ...types])
    const [ground = 0, ...shares] = drawn.counts
    expect(ground).toBeGreaterThan(drawn.width * 20)
    expect(ground).toBeLessThan(drawn.width * drawn.height * 0.9)
    // Each step has an edge of 5 x 42 CSS pixels, and the legend has one square for each type.
    for (const [i, share] of shares.entries()) {
      const steps = edges.filter((color) => color === types[i]).length
      expect(share).toBeGreaterThan(steps * 5 * 40 * 4)
      expect(share).toBeLessThan(steps * 5 * 44 * 4 + 1000)
    }

    await site.visit(page, kSample, '#graph/bytes')
    await expect(page.locator('.area').first()).toBeVisible()
    // Each type's areas are one path of rectangles.
    const areas = await page.locator('.map path').evaluateAll((all) =>
      all.map((path) => {
        const sides = [...(path.getAttribute('d') ?? '').matchAll(/h([\d.]+)v([\d.]+)/g)]
        return [
          getComputedStyle(path).fill,
          sides.reduce((sum, [, wide, high]) => sum + Number(wide) * Number(high), 0),
        ] as const
      }),
    )
    const colors = [...new Set(areas.map(([color]) => color))]
    const map = await downloaded(page, 'Save PNG')
    expect(map.name).toBe(`${kSample}.bytes.png`)
    const saved = await pixels(page, map.bytes, colors)
    const total = areas.reduce((sum, [, area]) => sum + area, 0)
    for (const [i, color] of colors.entries()) {
      const share = areas.filter((one) => one[0] === color).reduce((sum, [, area]) => sum + area, 0) / total
      // Text, lines and frames cover a part.
      expect(saved.counts[i]! / (1200 * 720 * 4)).toBeGreaterThan(share * 0.6)
      expect(saved.counts[i]! / (1200 * 720 * 4)).toBeLessThan(share * 1.05 + 0.01)
    }
  }
})

test('a flow that is wider than a phone begins at its first step', async ({ page, site }) => {
  test.skip(!kAll, 'takes long')
  await page.setViewportSize({ width: 390, height: 844 })
  const experts = ['gate_inp', 'gate_exps', 'up_exps', 'down_exps', 'gate_shexp', 'up_shexp', 'down_shexp']
  const tensors = ['norm', ...experts].map((role) => kTensor(`blk.0.ffn_${role}.weight`))
  site.add('/wide.gguf', writeGguf({ metadata: [], tensors }))
  await site.visit(page, '/wide.gguf', '#graph')
  const box = page.getByRole('region', { name: 'Steps of Block 0' })
  // The shared expert stands left of the first step.
  await expect.poll(() => box.evaluate((one) => one.scrollLeft)).toBeGreaterThan(0)
  await expect(box.getByRole('button', { name: /^Norm ffn_norm/ })).toBeInViewport({ ratio: 1 })
})
