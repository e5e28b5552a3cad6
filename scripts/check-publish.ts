// Runs publint and "are the types wrong" on the packed package: fields, exports and types for every kind of
// resolution.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'

const root = join(import.meta.dirname, '..')
const work = mkdtempSync(join(tmpdir(), 'ggufscope-pack-'))
const errors: string[] = []
try {
  const report = execFileSync('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', work], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [{ filename }] = JSON.parse(report) as [{ filename: string }]
  const tarball = readFileSync(join(work, filename))
  const bytes = tarball.buffer.slice(tarball.byteOffset, tarball.byteOffset + tarball.length)

  const { messages, pkg } = await publint({ pack: { tarball: bytes }, strict: true })
  for (const message of messages) errors.push(`publint: ${formatMessage(message, pkg, { color: false })}`)

  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    exports: Record<string, unknown>
  }
  const result = await checkPackage(createPackageFromTarballData(new Uint8Array(bytes)), {
    // Files without types: modules and the worker's script.
    excludeEntrypoints: Object.keys(manifest.exports).filter((name) => /\.(wasm|js|json)$/.test(name)),
  })
  if (!result.types) errors.push('the package has no types')
  else
    for (const problem of result.problems) {
      // There are only ES modules. require() can load them in Node 20.19, 22.12 and newer.
      if (problem.kind === 'CJSResolvesToESM') continue
      // TypeScript's old resolution for Node 10 does not know exports. No supported tool uses it.
      if ('resolutionKind' in problem && problem.resolutionKind === 'node10') continue
      errors.push(`types: ${JSON.stringify(problem)}`)
    }
} finally {
  rmSync(work, { recursive: true, force: true })
}
for (const error of errors) console.error(error)
if (errors.length > 0) process.exit(1)
console.log('publint and arethetypeswrong: nothing to say')
