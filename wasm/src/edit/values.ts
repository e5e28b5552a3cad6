// Encodes JavaScript values as GGUF values: little-endian, with 64-bit lengths.
import { GgufError } from '../api/errors.js'
import { kValueTypes } from '../header/header.js'
import type { LazyArray, NumericArray, ValueType } from '../api/metadata.js'
import type { WriteType, WriteValue } from '../api/edit.js'

export interface EncodedValue {
  readonly type: ValueType
  /** element type of an array */
  readonly elementType: ValueType
  readonly count: number
  readonly bytes: Uint8Array
}

const kTypedArrays: readonly (readonly [new (length: number) => NumericArray, ValueType])[] = [
  [Uint8Array, 'u8'],
  [Int8Array, 'i8'],
  [Uint16Array, 'u16'],
  [Int16Array, 'i16'],
  [Uint32Array, 'u32'],
  [Int32Array, 'i32'],
  [Float32Array, 'f32'],
  [BigUint64Array, 'u64'],
  [BigInt64Array, 'i64'],
  [Float64Array, 'f64'],
]

const kBits: Readonly<Record<string, readonly [bits: number, signed: boolean]>> = {
  u8: [8, false],
  i8: [8, true],
  u16: [16, false],
  i16: [16, true],
  u32: [32, false],
  i32: [32, true],
  u64: [64, false],
  i64: [64, true],
}

const encoder = new TextEncoder()

export const typeId = (type: ValueType): number => kValueTypes.indexOf(type)

class Bytes {
  #bytes = new Uint8Array(64)
  #view = new DataView(this.#bytes.buffer)
  #size = 0

  #reserve(n: number): number {
    const at = this.#size
    this.#size += n
    if (this.#size > this.#bytes.length) {
      const grown = new Uint8Array(2 * this.#size)
      grown.set(this.#bytes)
      this.#bytes = grown
      this.#view = new DataView(grown.buffer)
    }
    return at
  }

  raw(bytes: Uint8Array): void {
    const at = this.#reserve(bytes.length)
    this.#bytes.set(bytes, at)
  }

  u32(value: number): void {
    const at = this.#reserve(4)
    this.#view.setUint32(at, value, true)
  }

  length(value: number): void {
    this.integer(BigInt(value), 64)
  }

  integer(value: bigint, bits: number): void {
    const at = this.#reserve(bits / 8)
    for (let i = 0; i < bits / 8; i++) this.#bytes[at + i] = Number(BigInt.asUintN(8, value >> BigInt(8 * i)))
  }

  float(value: number, bytes: 4 | 8): void {
    const at = this.#reserve(bytes)
    if (bytes === 4) this.#view.setFloat32(at, value, true)
    else this.#view.setFloat64(at, value, true)
  }

  done(): Uint8Array {
    return this.#bytes.subarray(0, this.#size)
  }
}

type List = readonly WriteValue[] | NumericArray | LazyArray

const isTyped = (value: unknown): value is NumericArray => ArrayBuffer.isView(value)
const isLazy = (value: unknown): value is LazyArray =>
  typeof value === 'object' && value !== null && 'bytesAt' in value && 'type' in value
export const isList = (value: unknown): value is List =>
  Array.isArray(value) || isTyped(value) || isLazy(value)

function wrong(where: string, message: string): GgufError {
  return new GgufError('invalid-argument', `${where}: ${message}.`)
}

/** Whether float32 would round a number to infinity or zero. */
function isLostInSingle(value: number): boolean {
  const single = Math.fround(value)
  return (Number.isFinite(value) && !Number.isFinite(single)) || (single === 0 && value !== 0)
}

/** Whether a type can hold a value. Floating-point types may round it. */
export function holds(type: string, value: unknown): boolean {
  if (type === 'string' || type === 'bool') return typeof value === (type === 'bool' ? 'boolean' : type)
  if (type === 'f64') return typeof value === 'number'
  if (type === 'f32') return typeof value === 'number' && !isLostInSingle(value)
  const [bits, signed] = kBits[type]!
  if (typeof value === 'number' ? !Number.isInteger(value) : typeof value !== 'bigint') return false
  const whole = BigInt(value as number | bigint)
  return (signed ? BigInt.asIntN(bits, whole) : BigInt.asUintN(bits, whole)) === whole
}

/** The smallest fitting type of integers. ggml's programs expect i32 in arrays, and u32 for single values. */
function integerType(values: readonly (number | bigint)[], first: 'i32' | 'u32'): ValueType | undefined {
  const all = [first, 'u32', 'i32', 'u64', 'i64'] as const
  return all.find((type) => values.every((value) => holds(type, value)))
}

function scalarType(value: unknown, where: string): ValueType {
  if (typeof value === 'string') return 'string'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'bigint' || Number.isInteger(value)) {
    const type = integerType([value as number | bigint], 'u32')
    if (type) return type
  }
  if (typeof value === 'number') return 'f32'
  throw wrong(
    where,
    `a value of GGUF is a number, text, a boolean or an array of these, not ${String(value)}`,
  )
}

/** The element type of a typed array, or of an array of an opened file. */
export function arrayTypeOf(list: unknown): ValueType | undefined {
  if (isLazy(list)) return list.type
  return isTyped(list) ? kTypedArrays.find(([Type]) => list instanceof Type)?.[1] : undefined
}

function elementTypeOf(list: List, where: string): ValueType {
  const own = arrayTypeOf(list)
  if (own) return own
  if (isTyped(list)) throw wrong(where, `a ${list.constructor.name} is no array that GGUF knows`)
  const values = list as readonly WriteValue[]
  if (values.length === 0) throw wrong(where, 'an empty array has no type: give one')
  if (values.every(isList)) return 'array'
  if (values.every((value) => typeof value === 'bigint' || Number.isInteger(value))) {
    const type = integerType(values as readonly (number | bigint)[], 'i32')
    if (type) return type
  }
  const types = new Set(values.map((value) => (typeof value === 'number' ? 'f32' : scalarType(value, where))))
  if (types.size > 1)
    throw wrong(where, `the elements of an array are of one type, not ${[...types].join(' and ')}`)
  return [...types][0]!
}

function putScalar(out: Bytes, type: string, value: unknown, where: string): void {
  if (!holds(type, value))
    throw wrong(where, `${typeof value === 'string' ? JSON.stringify(value) : String(value)} is no ${type}`)
  if (type === 'f32') out.float(value as number, 4)
  else if (type === 'f64') out.float(value as number, 8)
  else if (type === 'bool') out.integer(value ? 1n : 0n, 8)
  else out.integer(BigInt(value as number | bigint), kBits[type]![0])
}

/** Encodes the elements and returns their type. */
function putElements(out: Bytes, list: List, wanted: WriteType | undefined, where: string): ValueType {
  const type =
    wanted === undefined ? elementTypeOf(list, where) : typeof wanted === 'string' ? wanted : 'array'
  if (!kValueTypes.includes(type)) throw wrong(where, `there is no value type ${String(type)}`)
  if (isTyped(list) && kTypedArrays.some(([Type, name]) => name === type && list instanceof Type)) {
    out.raw(new Uint8Array(list.buffer, list.byteOffset, list.byteLength))
    return type
  }
  const inner = typeof wanted === 'object' ? wanted.arrayOf : undefined
  let i = 0
  for (const value of list as Iterable<WriteValue>) {
    const name = `${where}[${i}]`
    if (type === 'array') {
      if (!isList(value)) throw wrong(name, `${String(value)} is no array`)
      const content = new Bytes()
      const elementType = putElements(content, value, inner, name)
      out.u32(typeId(elementType))
      out.length(value.length)
      out.raw(content.done())
    } else if (type === 'string') {
      // Strings of a header keep their exact bytes, which need not be UTF-8.
      const bytes = isLazy(list)
        ? list.bytesAt(i)
        : typeof value === 'string'
          ? encoder.encode(value)
          : undefined
      if (!bytes) throw wrong(name, `${JSON.stringify(value)} is no string`)
      out.length(bytes.length)
      out.raw(bytes)
    } else {
      putScalar(out, type, value, name)
    }
    i++
  }
  return type
}

/** Encodes a value. type: the type to write; undefined: derived from the value. where: name for error messages. */
export function encodeValue(value: WriteValue, type: WriteType | undefined, where: string): EncodedValue {
  const out = new Bytes()
  if (isList(value)) {
    if (typeof type === 'string') throw wrong(where, `an array is no ${type}`)
    const elementType = putElements(out, value, type?.arrayOf, where)
    return { type: 'array', elementType, count: value.length, bytes: out.done() }
  }
  if (typeof type === 'object') throw wrong(where, `${String(value)} is no array`)
  const scalar = type ?? scalarType(value, where)
  if (!kValueTypes.includes(scalar) || scalar === 'array')
    throw wrong(where, `there is no value type ${String(scalar)}`)
  if (scalar === 'string' && typeof value === 'string')
    return { type: scalar, elementType: scalar, count: 1, bytes: encoder.encode(value) }
  putScalar(out, scalar, value, where)
  return { type: scalar, elementType: scalar, count: 1, bytes: out.done() }
}
