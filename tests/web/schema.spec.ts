// JSON mode by a form: fields become a JSON schema, the text of the schema becomes fields, and answers keep to it.
import { Ajv } from 'ajv'
import { everyNth } from '../fixtures/short.ts'
import { fieldsOf, newField, schemaText, type Field } from '../../web/src/lib/run/schema-form.ts'
import { kSample } from '../../web/src/lib/file/samples.ts'
import { violations } from './axe.ts'
import { expect, test } from './site.ts'

test('fields and schema text describe the same', () => {
  const fields: Field[] = [
    { ...newField(), name: '__proto__' },
    { ...newField(), name: 'n', type: 'integer', required: false },
    {
      ...newField(),
      name: 'size',
      type: 'enum',
      choices: '1, two, "3", true, null, 01',
      isList: true,
      max: 4,
    },
    { ...newField(), name: 'ok', type: 'boolean' },
    { ...newField(), name: 'say "a"', longest: 0, isList: true, max: 0 },
  ]
  const text = schemaText(fields)
  const schema = JSON.parse(text) as { properties: Record<string, object>; required: string[] }
  expect(Object.keys(schema.properties)).toEqual(fields.map(({ name }) => name))
  expect(schema.required).toEqual(['__proto__', 'size', 'ok', 'say "a"'])
  expect(schema.properties['size']).toEqual({
    type: 'array',
    items: { enum: [1, 'two', '3', true, null, '01'] },
    maxItems: 4,
  })
  const again = fieldsOf(text)!
  expect(schemaText(again)).toBe(text)
  expect(again.map(({ name, type, required, isList }) => ({ name, type, required, isList }))).toEqual(
    fields.map(({ name, type, required, isList }) => ({ name, type, required, isList })),
  )
  expect(again[2]!.choices).toBe('1, two, "3", true, null, 01')
  // A schema with anything else is not shown as fields, because a change would drop it.
  for (const other of [
    '{ "enum": ["yes", "no"] }',
    '{ "type": "object", "properties": { "a": { "type": "string", "pattern": "x" } }, "required": [], "additionalProperties": false }',
    '{ "type": "object", "properties": { "a": { "enum": ["x, y", {}] } }, "required": [], "additionalProperties": false }',
    '{ "type": "object", "properties": { "a": null } }',
    '[',
    '3',
  ])
    expect(fieldsOf(other), other).toBeUndefined()
  expect(fieldsOf(' ')).toEqual([])
  // Fields without a name, with another one's name or without values are left out.
  expect(schemaText([newField(), { ...newField(), name: 'a', type: 'enum', choices: ' , ' }])).toBe('')
  const twice = { ...newField(), name: 'a' }
  expect(schemaText([twice, twice])).toBe(schemaText([twice]))
})

for (const width of everyNth([390, 1280], 2))
  test(`an answer keeps to the fields of the form, at ${width} px`, async ({ page, site }) => {
    await page.setViewportSize({ width, height: 844 })
    await site.visit(page, kSample, '#run')
    if (width < 720) await page.getByText('Options', { exact: true }).click()
    await page.getByText('Answer as JSON', { exact: true }).click()
    const schema = page.getByLabel('JSON schema for the answer')
    const add = page.getByRole('button', { name: 'Add a field' })
    const field = (at: number) => page.getByRole('group', { name: `Field ${at}`, exact: true })

    await add.click()
    await expect(field(1).getByLabel('Name')).toBeFocused()
    await page.keyboard.type('who')
    await field(1).getByLabel('Most characters').fill('6')
    await add.click()
    await expect(page.getByText('Each field needs a name of its own.')).toBeVisible()
    await field(2).getByLabel('Name').fill('legs')
    await field(2).getByLabel('Type').selectOption('One of a list')
    await expect(page.getByText('A field without values is left out.')).toBeVisible()
    await field(2).getByLabel('Values, separated by commas').fill('2, 4, six')
    await add.click()
    await field(3).getByLabel('Name').fill('colours')
    await field(3).getByLabel('Type').selectOption('One of a list')
    await field(3).getByLabel('Values, separated by commas').fill('red, blue')
    await field(3).getByLabel('List of such values').check()
    await field(3).getByLabel('Most entries').fill('2')
    await add.click()
    await field(4).getByLabel('Name').fill('wild')
    await field(4).getByLabel('Type').selectOption('True or false')
    await field(4).getByLabel('Required').uncheck()
    const wanted = {
      type: 'object',
      properties: {
        who: { type: 'string', maxLength: 6 },
        legs: { enum: [2, 4, 'six'] },
        colours: { type: 'array', items: { enum: ['red', 'blue'] }, maxItems: 2 },
        wild: { type: 'boolean' },
      },
      required: ['who', 'legs', 'colours'],
      additionalProperties: false,
    }
    expect(JSON.parse(await schema.inputValue())).toEqual(wanted)
    expect(await violations(page)).toEqual([])

    await page.getByText('Complete a text').click()
    await page.getByRole('textbox', { name: 'Text to complete' }).fill('An animal:')
    await page.getByLabel(/Show tokens/).check()
    const validate = new Ajv().compile(wanted)
    for (let round = 0; round < 3; round++) {
      await page.getByRole('button', { name: 'Complete' }).click()
      await expect(page.getByRole('status').filter({ hasText: /ms\.$/ })).toBeVisible()
      const answer = (await page.getByTestId('answer').last().locator('.piece').allTextContents()).join('')
      expect(validate(JSON.parse(answer)), answer).toBe(true)
    }

    // What is written as text is shown as fields again.
    await field(2).getByRole('button', { name: 'Remove field 2' }).click()
    await schema.fill((await schema.inputValue()).replaceAll('who', 'name'))
    await expect(field(1).getByLabel('Name')).toHaveValue('name')
    await expect(field(2).getByLabel('Name')).toHaveValue('colours')
    await schema.fill('{ "enum": ["yes", "no"] }')
    await expect(page.getByText('This schema has parts that the form cannot show.')).toBeVisible()
    await schema.fill('')
    await expect(page.getByText('Add the fields that the answer must have.')).toBeVisible()
  })
