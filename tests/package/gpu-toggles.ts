// Loaded before everything else in processes and workers that use SwiftShader: Dawn leaves the workgroups' memory as it
// is. SwiftShader compiles its clearing word by word, which takes ten times as long as the kernel itself; and a kernel
// that needs the zeros is wrong.
import Module from 'node:module'

type Create = (options: readonly string[]) => unknown
type Load = (module: { exports: { create: Create } }, path: string) => void
const { _extensions: extensions } = Module as unknown as { _extensions: Record<string, Load> }

const load = extensions['.node']!
extensions['.node'] = (module, path) => {
  load(module, path)
  if (!path.endsWith('dawn.node')) return
  const { create } = module.exports
  module.exports.create = (options) => create([...options, 'enable-dawn-features=disable_workgroup_init'])
}
