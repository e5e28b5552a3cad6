// The action's program: finds the GGUF files that the event changes, audits them, compares them with the versions
// before, and writes the step's summary, its outputs and a comment on the pull request.
import { execFileSync, spawnSync } from 'node:child_process'
import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'

const { env } = process
const kMark = '<!-- ggufscope audit -->'
// Code hosts refuse longer comments.
const kMaxComment = 60_000
const kNoCommit = /^0*$/

const event = env.GITHUB_EVENT_PATH ? JSON.parse(readFileSync(env.GITHUB_EVENT_PATH, 'utf8')) : {}
const folder = mkdtempSync(join(env.RUNNER_TEMP || tmpdir(), 'ggufscope-audit-'))
const git = (...args) => execFileSync('git', args, { encoding: 'utf8' })

/** Starts ggufscope. Without a shell, so names of files are only names. */
function ggufscope(...args) {
  const [program, ...before] = (env.INPUT_COMMAND || 'npx --yes ggufscope').split(/\s+/)
  const { status, stdout, error } = spawnSync(program, [...before, ...args], {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (error) throw error
  return { status, stdout }
}

/** The commit before the event: where the branches parted, or what was pushed upon. */
function commitBefore() {
  const base = event.pull_request?.base?.sha ?? event.before ?? ''
  if (kNoCommit.test(base)) return undefined
  try {
    return event.pull_request
      ? git('merge-base', base, 'HEAD').trim()
      : git('rev-parse', `${base}^{commit}`).trim()
  } catch {
    warn(`The commit ${base} is not there: give actions/checkout fetch-depth: 0`)
    return undefined
  }
}

function changedFiles(before) {
  const given = (env.INPUT_FILES ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
  if (given.length > 0) return given
  const list = before
    ? git('diff', '-z', '--name-only', '--diff-filter=ACMRT', before, 'HEAD')
    : git('ls-files', '-z')
  return list.split('\0').filter((name) => /\.gguf$/i.test(name))
}

/** A file of Git LFS that was not fetched. */
function isPointer(path) {
  if (!existsSync(path)) return false
  const head = Buffer.alloc(26)
  const file = openSync(path, 'r')
  readSync(file, head)
  closeSync(file)
  return head.toString('latin1') === 'version https://git-lfs.gi'
}

/** A warning of the log. A name cannot begin another command of the log. */
const warn = (text) =>
  console.log(`::warning::${text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')}`)

/** Writes the version of a file before the event to the folder. undefined: there is none. */
function versionBefore(before, name, i) {
  if (before === undefined) return undefined
  if (spawnSync('git', ['cat-file', '-e', `${before}:${name}`]).status !== 0) return undefined
  const path = join(folder, `${i}-before-${basename(name)}`)
  const output = openSync(path, 'w')
  // --filters: the file that an LFS pointer stands for.
  const { status } = spawnSync('git', ['cat-file', '--filters', `${before}:${name}`], {
    stdio: ['ignore', output, 'inherit'],
  })
  closeSync(output)
  return status === 0 && !isPointer(path) ? path : undefined
}

function comparisonOf(before, name, i) {
  const old = versionBefore(before, name, i)
  if (old === undefined) return ''
  const { stdout } = ggufscope('compare', old, name, '--markdown')
  // The file before has a name of its own.
  return stdout.replace(/^## .*$/m, () => `## Changes of ${basename(name).replaceAll(/[^\w.-]/g, '_')}`)
}

async function request(method, path, body) {
  const response = await fetch(`${env.GITHUB_API_URL || 'https://api.github.com'}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${env.INPUT_TOKEN}`,
      accept: 'application/vnd.github+json',
      'content-type': 'application/json',
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`${method} ${path}: status ${response.status}`)
  return await response.json()
}

/** Comments on the pull request, or changes the comment of an earlier run. */
async function comment(text) {
  const number = event.pull_request?.number
  if (env.INPUT_COMMENT !== 'true' || number === undefined || !env.INPUT_TOKEN) return
  const note = '\n\nThe report was cut: the step has the whole one.'
  const body = `${kMark}\n${text.length > kMaxComment ? text.slice(0, kMaxComment) + note : text}`
  const issues = `/repos/${env.GITHUB_REPOSITORY}/issues`
  try {
    const all = await request('GET', `${issues}/${number}/comments?per_page=100`)
    const own = all.find((one) => one.body?.startsWith(kMark))
    if (own) await request('PATCH', `${issues}/comments/${own.id}`, { body })
    else await request('POST', `${issues}/${number}/comments`, { body })
  } catch (error) {
    // A pull request of a fork has a token that only reads.
    warn(`The comment was not written: ${error.message}`)
  }
}

const append = (path, text) => path && appendFileSync(path, text)

async function main() {
  const before = commitBefore()
  const names = changedFiles(before)
  const pointers = names.filter(isPointer)
  for (const name of pointers) warn(`${name} is a pointer of Git LFS: give actions/checkout lfs: true`)
  const files = names.filter((name) => !pointers.includes(name) && existsSync(name))
  if (files.length === 0) {
    append(env.GITHUB_STEP_SUMMARY, 'No GGUF file was audited.\n')
    append(env.GITHUB_OUTPUT, 'findings={"error":0,"warning":0,"note":0}\n')
    return 0
  }
  const [report, sarif, cyclonedx] = ['report.md', 'audit.sarif', 'bom.json'].map((name) =>
    join(folder, name),
  )
  const hash = (env.INPUT_HASH ?? '')
    .split(/\s+/)
    .filter(Boolean)
    .flatMap((name) => ['--hash', name])
  const paths = files.map((name) => (name.startsWith('-') ? `./${name}` : name))
  const { status } = ggufscope(
    ...['audit', ...paths, ...hash, '--fail-on', env.INPUT_FAIL_ON || 'error'],
    ...['--markdown', report, '--sarif', sarif, '--cyclonedx', cyclonedx],
  )
  if (!existsSync(report)) throw new Error(`ggufscope audit ended with status ${status}`)
  const changes = paths.map((name, i) => comparisonOf(before, name, i)).filter(Boolean)
  const text = [readFileSync(report, 'utf8'), ...changes].join('\n')
  writeFileSync(report, text)
  const findings = { error: 0, warning: 0, note: 0 }
  for (const { level } of JSON.parse(readFileSync(sarif, 'utf8')).runs[0].results) findings[level]++
  append(env.GITHUB_STEP_SUMMARY, text)
  append(
    env.GITHUB_OUTPUT,
    `report=${report}\nsarif=${sarif}\ncyclonedx=${cyclonedx}\nfindings=${JSON.stringify(findings)}\n`,
  )
  await comment(text)
  return status
}

process.exitCode = await main()
