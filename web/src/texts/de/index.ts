// All German texts of the viewer.
import { change } from './change.ts'
import { decisions } from './decisions.ts'
import { errors } from './errors.ts'
import { memory } from './memory.ts'
import { options } from './options.ts'
import { overview } from './overview.ts'
import { pictures } from './pictures.ts'
import { run } from './run.ts'
import { start } from './start.ts'
import { tokens } from './tokens.ts'

export default {
  ...start,
  ...errors,
  ...overview,
  ...pictures,
  ...change,
  ...run,
  ...options,
  ...decisions,
  ...tokens,
  ...memory,
}
