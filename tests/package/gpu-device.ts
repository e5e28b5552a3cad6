// A device of WebGPU in Node, and the package's modules for it that it does not export. For processes in which WebGPU finds
// SwiftShader (swiftshader.ts).
import { join } from 'node:path'
import { build } from 'esbuild'
import type * as Kernels from '../../wasm/src/gpu/kernels.ts'
import type * as Layout from '../../wasm/src/gpu/layout.ts'
import { kRoot } from './packed.ts'

async function bundled<T>(path: string): Promise<T> {
  const { outputFiles } = await build({
    entryPoints: [join(kRoot, path)],
    bundle: true,
    format: 'esm',
    write: false,
  })
  const text = Buffer.from(outputFiles[0]!.contents).toString('base64')
  return (await import(`data:text/javascript;base64,${text}`)) as T
}

export const kernels = await bundled<typeof Kernels>('wasm/src/gpu/kernels.ts')
export const layout = await bundled<typeof Layout>('wasm/src/gpu/layout.ts')

/** A device that fails loudly: an error that nobody catches ends the process. */
export async function openDevice(): Promise<GPUDevice> {
  const { create, globals } = (await import('webgpu')) as unknown as {
    create(options: string[]): GPU
    globals: object
  }
  Object.assign(globalThis, globals)
  const gpu = create([])
  // Dawn ends at random once the object is collected.
  Object.assign(globalThis, { gpuOfTest: gpu })
  const adapter = await gpu.requestAdapter()
  if (adapter === null) throw new Error('No adapter answers.')
  const { maxBufferSize, maxStorageBufferBindingSize } = adapter.limits
  const device = await adapter.requestDevice({
    requiredFeatures: (['subgroups', 'shader-f16'] as const).filter((one) => adapter.features.has(one)),
    requiredLimits: { maxBufferSize, maxStorageBufferBindingSize },
  })
  device.onuncapturederror = ({ error }) => {
    throw new Error(error.message)
  }
  return device
}
