// Models and kernels on a GPU, in Node: runs the files of cases in processes in which WebGPU finds SwiftShader.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { kAll, kLong } from '../fixtures/short.ts'
import { kGpuEnvironment, skipGpu } from './swiftshader.ts'

function runCases(file: string): void {
  // A test in a test would report to this one's runner.
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env
  const run = spawnSync(
    process.execPath,
    ['--test', '--test-reporter=spec', join(import.meta.dirname, file)],
    { env: { ...environment, ...kGpuEnvironment }, encoding: 'utf8', timeout: kAll ? 3_500_000 : 1_200_000 },
  )
  assert.equal(run.status, 0, run.stdout + run.stderr)
}

const options = { skip: skipGpu, timeout: 3_600_000 }
test('models run on a GPU in Node', options, () => runCases('gpu-cases.ts'))
test('loads on a GPU fail, or are aborted', options, () => runCases('gpu-failures.ts'))
test('the command line, servers and the AI SDK take the device', options, () => runCases('gpu-doors.ts'))
test('the precision of products is chosen on a GPU', options, () => runCases('gpu-precision.ts'))
test('a model of more than 4 GiB is uploaded', { ...options, skip: skipGpu || kLong }, () =>
  runCases('gpu-memory.ts'),
)
test('Whisper models run on a GPU in Node', options, () => runCases('gpu-speech.ts'))
test('images and audio are encoded on a GPU in Node', { ...options, skip: skipGpu || kLong }, () =>
  runCases('gpu-media.ts'),
)
test('every type of weights is read on a GPU', options, () => runCases('gpu-types.ts'))
test(
  'every reference model is computed on a GPU, dispatch by dispatch',
  { ...options, skip: skipGpu || kLong },
  () => runCases('gpu-plans.ts'),
)
