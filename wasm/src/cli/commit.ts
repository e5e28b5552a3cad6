// `set` of a file on Hugging Face: a dry run, or with --commit a commit.
import { GgufError } from '../api/errors.js'
import type { CommitProgress, HubClient, HubCommit, HubFile } from '../api/edit.js'
import type { GgufBuilder, GgufFile } from '../api/file.js'
import { commitToHub, hubFileOf } from '../edit/commit.js'
import { withPaths } from '../sources/node-paths.js'
import { optionalPackage } from '../runtime/optional-package.js'
import { UsageError, type Context, type Options } from './command.js'
import { bytesText } from './format.js'

export const kCommitOptions = {
  commit: {
    excludes: ['output', 'in-place'],
    help: 'commit the change to the file on Hugging Face; without it, a dry run',
  },
  message: { value: 'TEXT', needs: 'commit', help: 'the title of the commit' },
  'pull-request': { needs: 'commit', help: 'open a pull request with the commit' },
} as const satisfies Options

const endpoint = (): string => process.env['HF_ENDPOINT'] || 'https://huggingface.co'

/** The file on Hugging Face, or on the server HF_ENDPOINT, that a word names; undefined for any other word. */
export function hubTarget(word: string): HubFile | undefined {
  const source = withPaths(word)
  if (typeof source !== 'string' && !(source instanceof URL)) return undefined
  return hubFileOf(source, endpoint())
}

/** The token of HF_TOKEN, or of --header. */
function tokenOf({ values }: Context): string | undefined {
  const headers = (values['header'] ?? []) as readonly string[]
  const given = headers.map((line) => /^authorization: *bearer +(\S+) *$/i.exec(line)?.[1])
  return given.find((token) => token !== undefined) ?? (process.env['HF_TOKEN'] || undefined)
}

async function clientFor(): Promise<HubClient> {
  const client = await optionalPackage<HubClient>('@huggingface/hub')
  if (client) return client
  throw new GgufError(
    'unsupported',
    '--commit needs the package @huggingface/hub beside this one: npm install @huggingface/hub.',
  )
}

function tell({ json, print, printJson }: Context, done: HubCommit): void {
  if (json) return printJson(done)
  const { repository, branch, path, oldHeader, newHeader, kept, sent, commit, url } = done
  print(`${repository}, branch ${branch}: ${path}`)
  print(
    `  ${bytesText(oldHeader)} of header ${commit === undefined ? 'would be' : 'were'} replaced by ${bytesText(newHeader)}; ${bytesText(kept)} of tensor data stay`,
  )
  if (commit === undefined) return print('  Nothing was changed: --commit makes the commit.')
  print(`  ${bytesText(sent ?? 0)} sent\n  commit ${commit}: ${url}`)
}

const kPhases: Readonly<Record<CommitProgress['phase'], string>> = {
  header: 'reading the header',
  hashing: 'computing the SHA-256',
  uploading: 'sending',
  committing: 'committing',
}

/** Edits a file on the hub: commits the change, or without --commit tells what a commit would send. */
export async function setOnHub(
  context: Context,
  word: string,
  edit: (file: GgufFile) => Promise<GgufBuilder>,
): Promise<number> {
  const { values, signal, progress } = context
  const token = tokenOf(context)
  const isCommit = values['commit'] === true
  if (isCommit && token === undefined)
    throw new UsageError('--commit needs a token with write access: set the variable HF_TOKEN')
  const source = withPaths(word) as string | URL
  const done = await commitToHub(source, edit, {
    token,
    signal,
    server: endpoint(),
    client: isCommit ? await clientFor() : undefined,
    message: values['message'] as string | undefined,
    pullRequest: values['pull-request'] === true,
    onProgress: ({ phase, done, total }) =>
      progress.show(() =>
        total === undefined
          ? `${kPhases[phase]}: ${bytesText(done)}`
          : `${kPhases[phase]}: ${Math.floor((100 * done) / Math.max(1, total))} % of ${bytesText(total)}`,
      ),
  })
  progress.clear()
  tell(context, done)
  return 0
}
