// Compares two files: compare().
import { callBack } from '../api/callbacks.js'
import { openedFile } from '../file/opened.js'
import { checkArgument, checkOptions, callback, integer, oneOf, signal as isSignal } from '../api/checks.js'
import type { CompareOptions, Comparison, TensorComparison } from '../api/compare.js'
import type { GgufFile } from '../api/file.js'
import { compareKeys } from './keys.js'
import { compareValues } from './values.js'

const kChecks = {
  values: oneOf('none', 'sampled', 'all'),
  sampleBytes: integer(1, 2 ** 30),
  signal: isSignal,
  onProgress: callback,
}

type Pair = Omit<TensorComparison, 'differs'>

function pairs(a: GgufFile, b: GgufFile): Pair[] {
  const names = new Set([...a.tensors, ...b.tensors].map(({ name }) => name))
  return [...names].map((name) => {
    const [left, right] = [a.tensor(name), b.tensor(name)]
    const comparable =
      left !== undefined &&
      left.shape.length === right?.shape.length &&
      left.shape.every((n, i) => n === right.shape[i])
    return { name, a: left, b: right, comparable, cut: false, equal: undefined, error: undefined }
  })
}

/** Sort key: the largest differences come first. */
const damage = ({ comparable, cut, differs, error }: TensorComparison): number => {
  if (!comparable || cut) return Infinity
  if (error) return Number.isFinite(error.nmse) ? error.nmse + (error.notFinite > 0 ? 1e9 : 0) : 1e12
  return differs ? 0 : -1
}

const differs = ({ comparable, cut, equal, a, b }: Pair) =>
  !comparable || cut || equal === false || a?.type !== b?.type

export async function compareFiles(
  a: GgufFile,
  b: GgufFile,
  options: CompareOptions = {},
): Promise<Comparison> {
  checkArgument('compare()', 'first file', a, openedFile)
  checkArgument('compare()', 'second file', b, openedFile)
  checkOptions('compare()', options, kChecks)
  const { values = 'sampled', sampleBytes = 65_536, signal, onProgress } = options
  signal?.throwIfAborted()
  const keys = compareKeys(a, b)
  let found = pairs(a, b)
  if (values !== 'none') {
    const total = found.filter(({ comparable }) => comparable).length
    let done = 0
    const compared: Pair[] = []
    for (const tensor of found) {
      const { name, a: left, b: right, comparable } = tensor
      if (!comparable || !left || !right) {
        compared.push(tensor)
        continue
      }
      const read = values === 'all' ? undefined : sampleBytes
      compared.push({ ...tensor, ...(await compareValues(a, b, { name, a: left, b: right }, read, signal)) })
      await callBack(onProgress, ++done, total, name)
    }
    found = compared
  }
  const tensors = found.map((tensor) => ({ ...tensor, differs: differs(tensor) }))
  return {
    values,
    keys,
    tensors: tensors.toSorted((x, y) => {
      const [left, right] = [damage(x), damage(y)]
      return left === right ? 0 : right > left ? 1 : -1
    }),
    same: keys.every(({ kind }) => kind === 'unread') && !tensors.some((tensor) => tensor.differs),
  }
}
