// Checks whether an adapter fits a model.
import { openedFile } from '../file/opened.js'
import { checkArgument } from '../api/checks.js'
import type { GgufFile } from '../api/file.js'
import type { Finding } from '../api/findings.js'
import { planAdapter } from './adapter-pairs.js'

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
    ...problems.map(({ code, message, offset }): Finding => ({
      level: 'error',
      code,
      message,
      offset,
      shard: 0,
    })),
    ...ignored.map((name): Finding => {
      const { offset = 0 } = adapter.tensors.find((tensor) => tensor.name.startsWith(name)) ?? {}
      return { level: 'note', code: 'no-effect', message: `${name} changes nothing.`, offset, shard: 0 }
    }),
  ]
}
