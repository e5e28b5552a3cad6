// Models on a GPU, in Node: runs gpu-cases.ts where WebGPU finds SwiftShader.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { kAll } from '../fixtures/short.ts'
import { kGpuEnvironment, skipGpu } from './swiftshader.ts'

test('models run on a GPU in Node', { skip: skipGpu, timeout: 900_000 }, () => {
  // A test in a test would report to this one's runner.
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env
  const run = spawnSync(
    process.execPath,
    ['--test', '--test-reporter=spec', join(import.meta.dirname, 'gpu-cases.ts')],
    { env: { ...environment, ...kGpuEnvironment }, encoding: 'utf8', timeout: kAll ? 850_000 : 600_000 },
  )
  assert.equal(run.status, 0, run.stdout + run.stderr)
})
