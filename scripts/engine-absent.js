// Stands in for the glue of engine-memory64.wasm in a package that was built without it (GGUFSCOPE_64=0 scripts/build-package.sh).
import { EngineError } from './engine-error.js'
export default async () => {
  throw new EngineError(
    'out-of-memory',
    'This build of the package has no engine with 64-bit memory, so a model may take 4 GiB. npm run build makes one.',
  )
}
