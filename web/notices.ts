// A plugin of Vite that writes THIRD_PARTY_NOTICES.txt: the licences of the npm packages that a build bundles. The viewer and the
// documentation site use it, with different versions of Vite.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The part of a bundle, and of the plugin's context, that both versions have. */
type Bundle = Record<string, { readonly type: string; readonly moduleIds?: string[] }>
interface Context {
  emitFile(file: { type: 'asset'; fileName: string; source: string }): string
}

/** The folder of the package that contains a module, or undefined for a module of this project. */
const packageOf = (module: string): string | undefined =>
  /^[^\0]*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(module)?.[0]

interface Manifest {
  readonly name: string
  readonly version: string
  readonly license?: string
  readonly author?: string | { readonly name: string }
}

/** Pages that name the authors of packages which do not name them. */
const kPages: Readonly<Record<string, string>> = {
  // a dependency of @huggingface/hub
  'gearhash-jit': 'https://www.npmjs.com/package/gearhash-jit',
}

/**
 * A package's name, version, and the texts of its licences. A package without a text is described by the licence and the author that
 * it names. Throws if it names neither.
 */
function noticeOf(folder: string): string {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
  const { name, version, license, author } = manifest
  const texts = readdirSync(folder)
    .filter((file) => /^(licen[cs]e|copying|notice)/i.test(file))
    .toSorted()
    .map((file) => readFileSync(join(folder, file), 'utf8').trim())
  if (texts.length === 0) {
    const by = (typeof author === 'object' ? author.name : author) ?? kPages[name]
    if (!license || !by) throw new Error(`${name} ${version} is bundled, and contains no licence`)
    texts.push(`The package contains no text of its licence. Author: ${by}`)
  }
  return [`${name} ${version} (${license?.replaceAll(/^\(|\)$/g, '') ?? 'see below'})`, ...texts].join('\n\n')
}

/**
 * Returns two plugins. `collect` notes the packages of a bundle; a worker is a bundle of its own, so its plugins need it, too. `write`
 * does the same, and adds the file to the bundle: first the text `head`, then a notice for each package.
 */
export function thirdPartyNotices(head: string) {
  const folders = new Set<string>()
  const note = (bundle: Bundle): void => {
    for (const module of Object.values(bundle).flatMap(({ moduleIds }) => moduleIds ?? [])) {
      const folder = packageOf(module)
      if (folder !== undefined) folders.add(folder)
    }
  }
  return {
    collect: {
      name: 'collect-notices',
      generateBundle: (_: unknown, bundle: object) => note(bundle as Bundle),
    },
    write: {
      name: 'third-party-notices',
      apply: 'build' as const,
      generateBundle(this: Context, _: unknown, bundle: object) {
        note(bundle as Bundle)
        const notices = [...folders].map(noticeOf).toSorted()
        const line = `\n\n${'-'.repeat(80)}\n\n`
        this.emitFile({
          type: 'asset',
          fileName: 'THIRD_PARTY_NOTICES.txt',
          source: `${[head.trim(), ...new Set(notices)].join(line)}\n`,
        })
      },
    },
  }
}
