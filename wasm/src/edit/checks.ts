// The allowed options of functions that make files.
import {
  anything,
  callback,
  either,
  flag,
  kProgressChecks,
  kReadChecks,
  number,
  object,
  oneOf,
  text,
  type Check,
} from '../api/checks.js'
import type { AssetOptions } from '../api/assets.js'
import type { BuildOptions, SplitOptions, WriteOptions } from '../api/edit.js'
import type { RequantizeOptions } from '../api/file.js'

type Checks<T> = Readonly<Record<keyof T, Check>>

export const kAssetChecks: Checks<AssetOptions> = { wasmUrl: anything, assets: either(text, object) }
export const kBuildChecks: Checks<BuildOptions> = {
  ...kReadChecks,
  version: anything, // has an error code of its own
  endianness: oneOf('little', 'big'),
}
export const kSplitChecks: Checks<SplitOptions> = {
  ...kBuildChecks,
  maxTensors: number(1),
  maxBytes: number(1),
}
export const kWriteChecks: Checks<WriteOptions> = kProgressChecks
export const kQuantizeChecks: Checks<RequantizeOptions> = {
  ...kReadChecks,
  pure: flag,
  types: either(callback, object),
  importance: object,
  importanceFile: text,
  allowRequantize: flag,
  fallback: flag,
  dryRun: flag,
}
