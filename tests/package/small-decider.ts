// A decision model: the stories' model with a template for decisions.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { open as Open } from 'ggufscope/node'
import { kRoot } from './packed.ts'

const kTemplate = `{{ state if state is string else state | tojson }}
{{ instructions }}
{% for o in options %}{{ o.label }}) {{ o.key }}{% if o.description %}: {{ o.description }}{% endif %}
{% endfor %}The answer is `

/** open: the one of the package that the test has loaded. */
export async function smallDecider(open: typeof Open): Promise<Uint8Array> {
  using file = await open(readFileSync(join(kRoot, 'tests/fixtures/stories.gguf')))
  const builder = await file.edit()
  builder.set('llama.decision.type', 'openjev')
  builder.set('tokenizer.chat_template.systemone', kTemplate)
  return await (await builder.build()).bytes()
}
