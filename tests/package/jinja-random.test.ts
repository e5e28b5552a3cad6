// Compares with Python's Jinja2: random templates (statements, scopes, macros, loops, filters), and random
// conversations rendered by real templates.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareRandomConversations, compareRandomTemplates, kRealTemplates } from '../jinja/differential.ts'
import { kNoPython } from '../jinja/python.ts'
import { skipWithout } from '../fixtures/skip-without.ts'

test("random templates render as Python's Jinja2 renders them", { skip: kNoPython }, async () => {
  const { same, refused, differences } = await compareRandomTemplates(100_000, 150)
  assert.deepEqual(differences, [])
  assert.ok(same > 50 && refused > 0, `${same} the same, ${refused} refused`)
})

const skip = kNoPython || skipWithout(kRealTemplates)
test("random conversations render as Python's Jinja2 renders them", { skip }, async () => {
  const { same, refused, differences } = await compareRandomConversations(0, 460)
  assert.deepEqual(differences, [])
  assert.ok(same > 150 && refused > 0, `${same} the same, ${refused} refused`)
})
