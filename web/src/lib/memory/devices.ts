// Computers on which a model may run: presets of memory and bandwidth, or the user's own numbers, which are stored in
// this browser.
import type { MemoryDevice } from 'ggufscope'
import { narrow } from '../page/screen'
import { storage } from '../page/storage'
import type { Plain } from '../../texts/text'

/** Bytes of a GiB, in which memory is made. Files and bandwidths are in GB of 10^9 bytes. */
export const kGiB = 1024 ** 3

/** Memory in GiB, bandwidth in GB/s. */
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

/** Memory: what the computer has, minus what the operating system, the screen and other programs take. */
export const presets: readonly Preset[] = [
  { id: 'phone', title: 'Phone, 8 GiB', gpu: 0, gpuSpeed: 0, ram: 5, ramSpeed: 50 },
  { id: 'laptop', title: 'Laptop, 16 GiB, no graphics card', gpu: 0, gpuSpeed: 0, ram: 12, ramSpeed: 60 },
  { id: 'desktop', title: 'Desktop, 32 GiB, no graphics card', gpu: 0, gpuSpeed: 0, ram: 27, ramSpeed: 80 },
  { id: 'gpu8', title: 'Graphics card of 8 GiB', gpu: 7, gpuSpeed: 270, ram: 12, ramSpeed: 60 },
  { id: 'gpu12', title: 'Graphics card of 12 GiB', gpu: 10.7, gpuSpeed: 360, ram: 27, ramSpeed: 80 },
  { id: 'gpu16', title: 'Graphics card of 16 GiB', gpu: 15, gpuSpeed: 450, ram: 27, ramSpeed: 80 },
  { id: 'gpu24', title: 'Graphics card of 24 GiB', gpu: 23, gpuSpeed: 1000, ram: 56, ramSpeed: 80 },
  { id: 'gpu32', title: 'Graphics card of 32 GiB', gpu: 31, gpuSpeed: 1790, ram: 56, ramSpeed: 80 },
  { id: 'mac16', title: 'Mac, 16 GiB shared', gpu: 10.7, gpuSpeed: 120, ram: 4, ramSpeed: 120 },
  { id: 'mac64', title: 'Mac, 64 GiB shared', gpu: 48, gpuSpeed: 400, ram: 12, ramSpeed: 400 },
  { id: 'gpu80', title: 'Server card of 80 GiB', gpu: 78, gpuSpeed: 3350, ram: 112, ramSpeed: 200 },
]

// Another name than that of the numbers in GB, which earlier versions stored.
const key = 'computer'
/** The computer until the user chooses one. */
function standard(): Machine {
  const isPhone = narrow.current && matchMedia('(pointer: coarse)').matches
  return presets.find(({ id }) => id === (isPhone ? 'phone' : 'gpu8'))!
}
const fields = ['gpu', 'gpuSpeed', 'ram', 'ramSpeed'] as const

export const presetOf = (machine: Machine) =>
  presets.find((preset) => fields.every((field) => preset[field] === machine[field]))

export function machine(): Machine {
  const kept = storage.record(key)
  const numbers = fields.map((field) => [field, Number(kept[field])] as const)
  if (numbers.every(([, value]) => Number.isFinite(value) && value >= 0))
    return Object.fromEntries(numbers) as unknown as Machine
  const { gpu, gpuSpeed, ram, ramSpeed } = standard()
  return { gpu, gpuSpeed, ram, ramSpeed }
}

export function keepMachine(machine: Machine) {
  storage.set(key, JSON.stringify(machine))
}

const device = (name: string, memory: number, speed: number): MemoryDevice => ({
  name,
  memory: Math.round(memory * kGiB),
  bandwidth: speed > 0 ? speed * 1e9 : undefined,
})

/** Converts a machine to the form that file.memory() takes. */
export function devicesOf({ gpu, gpuSpeed, ram, ramSpeed }: Machine) {
  return {
    host: device('Computer', ram || 0, ramSpeed || 0),
    devices: gpu > 0 ? [device('Graphics card', gpu, gpuSpeed || 0)] : [],
  }
}
