// The allowed options of an opened file's methods.
import { anything, callback, flag, integer, oneOf, object, signal, type Check } from '../api/checks.js'
import type { EditOptions } from '../api/edit.js'
import type { LintOptions } from '../api/findings.js'
import type { StatsOptions } from '../api/file.js'
import type { ReadRowsOptions, ReadWindowOptions } from '../api/tensors.js'

type Checks<T> = Readonly<Record<keyof T, Check>>

// The number of rows and columns depends on the tensor.
const kRows: Checks<ReadRowsOptions> = { signal, rows: anything, superBlock: oneOf(64, 256) }
export const kWindowChecks: Checks<ReadWindowOptions> = { ...kRows, columns: anything }
export const kStatsChecks: Checks<StatsOptions> = { ...kRows, against: object, onProgress: callback }
export const kEditChecks: Checks<EditOptions> = { shard: integer(), allowDamaged: flag }
export const kLintChecks: Checks<LintOptions> = { strict: flag }
