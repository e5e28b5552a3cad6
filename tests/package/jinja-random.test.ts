// Random templates: statements, scopes, macros, loops and filters, as Python's Jinja2 renders them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareRandomTemplates } from '../jinja/differential.ts'
import { kNoPython } from '../jinja/python.ts'

test("random templates render as Python's Jinja2 renders them", { skip: kNoPython }, async () => {
  const { same, refused, differences } = await compareRandomTemplates(100_000, 150)
  assert.deepEqual(differences, [])
  assert.ok(same > 50 && refused > 0, `${same} the same, ${refused} refused`)
})
