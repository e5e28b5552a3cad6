// Computers on which a model may run: presets of memory and bandwidth, or the user's own numbers, which are stored in
// this browser.
import type { MemoryDevice } from 'ggufscope'
import { storage } from '../page/storage'
import type { Plain } from '../../texts/text'

/** Memory in GB of 10^9 bytes, bandwidth in GB/s. */
export interface Machine {
  gpu: number
  gpuSpeed: number
  ram: number
  ramSpeed: number
}

export interface Preset extends Machine {
  id: string
  title: Plain
}

/** Memory in GB: what vendors state in GiB, minus about one gigabyte for the operating system and the screen. */
export const presets: readonly Preset[] = [
  { id: 'laptop', title: 'Laptop, 16 GB, no graphics card', gpu: 0, gpuSpeed: 0, ram: 13, ramSpeed: 60 },
  { id: 'desktop', title: 'Desktop, 32 GB, no graphics card', gpu: 0, gpuSpeed: 0, ram: 29, ramSpeed: 80 },
  { id: 'gpu8', title: 'Graphics card of 8 GB', gpu: 7.5, gpuSpeed: 270, ram: 13, ramSpeed: 60 },
  { id: 'gpu12', title: 'Graphics card of 12 GB', gpu: 11.5, gpuSpeed: 360, ram: 29, ramSpeed: 80 },
  { id: 'gpu16', title: 'Graphics card of 16 GB', gpu: 16, gpuSpeed: 450, ram: 29, ramSpeed: 80 },
  { id: 'gpu24', title: 'Graphics card of 24 GB', gpu: 24.5, gpuSpeed: 1000, ram: 60, ramSpeed: 80 },
  { id: 'gpu32', title: 'Graphics card of 32 GB', gpu: 33, gpuSpeed: 1790, ram: 60, ramSpeed: 80 },
  { id: 'mac16', title: 'Mac, 16 GB shared', gpu: 11.5, gpuSpeed: 120, ram: 4, ramSpeed: 120 },
  { id: 'mac64', title: 'Mac, 64 GB shared', gpu: 51, gpuSpeed: 400, ram: 12, ramSpeed: 400 },
  { id: 'gpu80', title: 'Server card of 80 GB', gpu: 84, gpuSpeed: 3350, ram: 120, ramSpeed: 200 },
]

const key = 'machine'
const standard: Machine = presets.find(({ id }) => id === 'gpu8')!
const fields = ['gpu', 'gpuSpeed', 'ram', 'ramSpeed'] as const

export const presetOf = (machine: Machine) =>
  presets.find((preset) => fields.every((field) => preset[field] === machine[field]))

export function machine(): Machine {
  try {
    const kept = JSON.parse(storage.get(key) ?? '') as Partial<Record<string, unknown>>
    const numbers = fields.map((field) => [field, Number(kept[field])] as const)
    if (numbers.every(([, value]) => Number.isFinite(value) && value >= 0))
      return Object.fromEntries(numbers) as unknown as Machine
  } catch {
    // Nothing valid is stored.
  }
  const { gpu, gpuSpeed, ram, ramSpeed } = standard
  return { gpu, gpuSpeed, ram, ramSpeed }
}

export function keepMachine(machine: Machine) {
  storage.set(key, JSON.stringify(machine))
}

const device = (name: string, memory: number, speed: number): MemoryDevice => ({
  name,
  memory: Math.round(memory * 1e9),
  bandwidth: speed > 0 ? speed * 1e9 : undefined,
})

/** Converts a machine to the form that file.memory() takes. */
export function devicesOf({ gpu, gpuSpeed, ram, ramSpeed }: Machine) {
  return {
    host: device('Computer', ram || 0, ramSpeed || 0),
    devices: gpu > 0 ? [device('Graphics card', gpu, gpuSpeed || 0)] : [],
  }
}
