// Generates the documentation pages that come from tables and types: API, architectures, commands, sampler options, errors, lint rules. A page is
// written only if its text changed, so that the site is rebuilt only if necessary.
import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { writeApi } from './api.ts'
import { architectureNames } from './architectures.ts'
import { commandsPage } from './commands.ts'
import { errorsPage } from './errors.ts'
import { gpuReasons } from './gpu-reasons.ts'
import { lintRulesPage } from './lint-rules.ts'
import { samplingPage } from './sampling.ts'

const root = join(import.meta.dirname, '../..')
const reference = join(root, 'web/docs/reference')

function write(path: string, text: string): void {
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

/** A hash of all declarations and of the generators. Function bodies do not matter. */
function declarationsHash(): string {
  const hash = createHash('sha256')
  const files = globSync(['wasm/dist/**/*.d.ts', 'scripts/docs/api*.ts', 'web/docs/{*,guides/*}.md'], {
    cwd: root,
  }).toSorted()
  for (const file of files) hash.update(file).update(readFileSync(join(root, file)))
  return hash.digest('hex')
}

const anchors = join(root, 'web/docs/public/api-anchors.json')
const stamp = join(root, 'build/docs-api.stamp')
const hash = declarationsHash()
if (
  !existsSync(join(reference, 'api/index.md')) ||
  !existsSync(anchors) ||
  !existsSync(stamp) ||
  readFileSync(stamp, 'utf8') !== hash
) {
  await writeApi(join(reference, 'api'), anchors, write)
  writeFileSync(stamp, hash)
}
write(join(root, 'build/architecture-names.md'), architectureNames())
write(join(root, 'build/gpu-reasons.md'), gpuReasons())
write(join(reference, 'commands.md'), await commandsPage())
write(join(reference, 'errors.md'), errorsPage())
write(join(reference, 'sampling.md'), samplingPage())
const rules = ['lint-rules.json', 'lint-rules-of-package.json'].map((name) => join(reference, name))
const page = lintRulesPage(rules.filter((path) => existsSync(path)).map((path) => readFileSync(path, 'utf8')))
write(join(reference, 'lint-rules.md'), page)
