// Random templates by the package and by Python's Jinja2: node tests/jinja/differential.ts [FROM] [COUNT].
import { open } from 'ggufscope/node'
import { writeHeader } from '../fixtures/gguf.ts'
import { renderByPython, type ReferenceResult } from './python.ts'
import { kTemplateVariables, randomTemplate } from './random-template.ts'

export interface Difference {
  readonly seed: number
  readonly template: string
  readonly python: ReferenceResult
  readonly ours: ReferenceResult
}
export interface Comparison {
  /** the same text */
  same: number
  /** both refuse */
  refused: number
  /** Python's text holds addresses of objects, which nobody can foretell */
  unforeseen: number
  readonly differences: Difference[]
}

async function render(template: string): Promise<ReferenceResult> {
  using file = await open(
    writeHeader({ metadata: [['tokenizer.chat_template', { type: 'string', value: template }]] }).header,
  )
  const variables = JSON.parse(kTemplateVariables) as Record<string, unknown>
  try {
    return {
      text: await file.renderChat([], { adapt: false, variables, now: new Date(2026, 6, 4, 9, 5, 3) }),
    }
  } catch (error) {
    return { error: String(error) }
  }
}

export async function compareRandomTemplates(from: number, count: number): Promise<Comparison> {
  const out: Comparison = { same: 0, refused: 0, unforeseen: 0, differences: [] }
  const templates = Array.from({ length: count }, (_, i) => randomTemplate(from + i))
  const made = renderByPython(templates.map((template) => ({ template, variables: kTemplateVariables })))
  for (const [i, template] of templates.entries()) {
    const python = made[i]!
    const ours = await render(template)
    if (
      'text' in python &&
      /<(?:function|class|generator|built-in|bound|Macro|jinja2)|object at 0x/i.test(python.text)
    )
      out.unforeseen++
    else if ('text' in python && 'text' in ours && python.text === ours.text) out.same++
    else if ('error' in python && 'error' in ours) out.refused++
    else out.differences.push({ seed: from + i, template, python, ours })
  }
  return out
}

if (import.meta.main) {
  const [from = 0, count = 1000] = process.argv.slice(2).map(Number)
  const { differences, ...counts } = await compareRandomTemplates(from, count)
  for (const one of differences) console.log(JSON.stringify(one, undefined, 1))
  console.log({ ...counts, different: differences.length })
}
