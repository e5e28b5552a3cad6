// The command hash: hashes of files and tensors, and their comparison with a list.
import { kHashAlgorithms } from '../audit/digests.js'
import { hashFile } from '../audit/hash.js'
import type { FileHashes, HashAlgorithm, Hashes } from '../audit/types.js'
import { UsageError, kFiles, type Command, type Context } from './command.js'
import { visible } from './format.js'
import { eachFile, kSeveralHelp } from './several.js'
import { readText } from './text.js'

interface Line {
  readonly algorithm: string
  readonly hash: string
  readonly name: string
}

const linesOf = (hashes: Hashes, name: string): Line[] =>
  Object.entries(hashes).map(([algorithm, hash]) => ({ algorithm, hash, name }))

/** The lines of llama-gguf-hash: tensors as PATH:NAME, then the files. */
function allLines({ files, tensors }: FileHashes, path: string, withTensors: boolean): Line[] {
  const folder = path.slice(0, Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1)
  const pathOf = (shard: number): string =>
    files.length === 1 ? path : folder + (files[shard]!.name ?? String(shard))
  return [
    ...(withTensors
      ? tensors.flatMap(({ name, shard, hashes }) => linesOf(hashes, `${pathOf(shard)}:${name}`))
      : []),
    ...files.flatMap(({ hashes }, i) => linesOf(hashes, pathOf(i))),
  ]
}

/** Parses lines of "algorithm hash name", where names may contain spaces. */
function parseList(text: string): Line[] {
  return text.split(/\r?\n/).flatMap((line) => {
    const [, algorithm, hash, name] = /^(\S+)\s+([0-9a-fA-F-]+)\s+(.*\S)/.exec(line) ?? []
    return algorithm === undefined || !(kHashAlgorithms as string[]).includes(algorithm)
      ? []
      : [{ algorithm, hash: hash!.toLowerCase(), name: name! }]
  })
}

/** What the list says about each line. A list may have been made in another folder. */
function verdictsOf(lines: readonly Line[], list: readonly Line[], path: string): string[] {
  const folder = Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1
  return lines.map(({ algorithm, hash, name }) => {
    const short = name.slice(folder)
    const listed = list.find(
      (one) =>
        one.algorithm === algorithm &&
        (one.name === name || one.name === short || one.name.endsWith(`/${short}`)),
    )
    return listed === undefined ? 'Not Found' : listed.hash === hash ? 'Ok' : 'Mismatch'
  })
}

function algorithmsFor({ values }: Context, list: readonly Line[] | undefined): HashAlgorithm[] {
  const given = (values['algorithm'] ?? []) as HashAlgorithm[]
  if (given.length > 0) return given
  // Of a list, the strongest that it has.
  return list === undefined
    ? ['xxh64']
    : kHashAlgorithms.filter((name) => list.some(({ algorithm }) => algorithm === name)).slice(0, 1)
}

export const command: Command = {
  damage: 'refused',
  arguments: [kFiles],
  options: {
    algorithm: {
      value: 'NAME',
      repeats: true,
      choices: kHashAlgorithms,
      help: 'the hash; default: xxh64, or the strongest of --check',
    },
    'no-layer': { help: 'only the files, without their tensors' },
    check: { value: 'LIST', file: 'read', help: 'compare with the lines that an earlier call printed' },
  },
  help: [
    'The lines are those of llama-gguf-hash: of the data of tensors, and of all tensors of a file. Every byte is read.',
    'With --json, each file also has the SHA-256 of all its bytes, as model hubs show it.',
    'With --check: status 1 if a hash differs, or if the list has no hash of the file.',
    kSeveralHelp,
  ],
  async run(context) {
    const { values, signal, progress, print } = context
    const path = values['check'] as string | undefined
    const list = path === undefined ? undefined : parseList(await readText(path, '--check'))
    if (list?.length === 0) throw new UsageError(`--check: ${path} has no line of "algorithm hash name"`)
    const algorithm = algorithmsFor(context, list)
    return await eachFile(context, async (file, given) => {
      const onProgress = progress.reading('hashing')
      const hashed = await hashFile(file, { algorithm, signal, onProgress })
      progress.clear()
      const lines = allLines(hashed, given, values['no-layer'] !== true)
      const verdicts = list && verdictsOf(lines, list, given)
      const isGood = verdicts === undefined || (!verdicts.includes('Mismatch') && verdicts.includes('Ok'))
      return {
        status: isGood ? 0 : 1,
        json: {
          ...hashed,
          ...(verdicts && { checks: lines.map((line, i) => ({ ...line, verdict: verdicts[i] })) }),
        },
        print: () =>
          lines.forEach(({ algorithm: name, hash, name: what }, i) =>
            print(`${name.padEnd(8)}  ${hash}  ${visible(what)}${verdicts ? `  -  ${verdicts[i]}` : ''}`),
          ),
      }
    })
  },
}
