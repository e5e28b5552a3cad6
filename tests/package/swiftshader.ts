// WebGPU without a graphics card: the npm package webgpu with SwiftShader, the software that Chromium brings.
import { existsSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { kBrowser } from '../web/browser.ts'

const kIcd = 'vk_swiftshader_icd.json'

function folderOfIcd(): string | undefined {
  const beside = existsSync(kBrowser.executablePath) ? dirname(realpathSync(kBrowser.executablePath)) : ''
  return [beside, '/usr/lib/chromium'].find((folder) => folder !== '' && existsSync(join(folder, kIcd)))
}

function hasPackage(): boolean {
  try {
    createRequire(import.meta.url).resolve('webgpu')
    return true
  } catch {
    return false
  }
}

const folder = folderOfIcd()

/** Why tests of the GPU are skipped; false: they run. */
export const skipGpu: string | false = !hasPackage()
  ? 'the package webgpu is not installed'
  : folder === undefined
    ? `no ${kIcd}, which Chromium brings`
    : false

/** With these variables a new process finds SwiftShader. */
export const kGpuEnvironment: Readonly<Record<string, string>> =
  folder === undefined
    ? {}
    : {
        VK_DRIVER_FILES: join(folder, kIcd),
        VK_ICD_FILENAMES: join(folder, kIcd),
        LD_LIBRARY_PATH: folder,
        NODE_OPTIONS: `--import "${join(import.meta.dirname, 'gpu-toggles.ts')}"`,
      }
