// Checks whether an adapter fits a model.
import { openedFile } from '../file/opened.js'
import { checkArgument } from '../api/checks.js'
import type { GgufFile } from '../api/file.js'
import type { Finding } from '../api/findings.js'
import { planAdapter } from './adapter-pairs.js'

/** Tokens that activate an adapter, and that the model has not. */
function unknownTokens(adapter: GgufFile, base: GgufFile): Finding[] {
  const key = 'adapter.alora.invocation_tokens'
  const tokens = adapter.metadata.get(key)
  const count = base.tensor('token_embd.weight')?.shape[1]
  if (typeof tokens !== 'object' || count === undefined) return []
  const unknown = [...tokens].find((id) => Number(id) >= count)
  return unknown === undefined
    ? []
    : [
        {
          level: 'error',
          code: 'out-of-range',
          message: `${key} names the token ${Number(unknown)}.`,
          shard: 0,
        },
      ]
}

/**
 * Checks whether a LoRA adapter fits a model: kind, architecture, names and shapes. Reads only the headers. Errors are
 * the reasons for which mergeAdapter() and Model.setAdapters() refuse the adapter. Notes name tensors without effect.
 * mergeAdapter() also refuses adapters that tokens activate.
 */
export function lintAdapter(adapter: GgufFile, base: GgufFile): Finding[] {
  checkArgument('lintAdapter()', 'adapter', adapter, openedFile)
  checkArgument('lintAdapter()', 'model', base, openedFile)
  const architecture = base.metadata.get('general.architecture')
  const { problems, ignored } = planAdapter(adapter, {
    architecture: typeof architecture === 'string' ? architecture : undefined,
    tensors: base.tensors,
  })
  return [
    ...problems.map((problem): Finding => ({ level: 'error', ...problem, shard: 0 })),
    ...unknownTokens(adapter, base),
    ...ignored.map((name): Finding => {
      const tensor = adapter.tensors.find((one) => one.name.startsWith(name))
      const place = tensor && { offset: tensor.offset }
      return { level: 'note', code: 'no-effect', message: `${name} changes nothing.`, ...place, shard: 0 }
    }),
  ]
}
