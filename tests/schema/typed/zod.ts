// Schemas of zod for the test of typed clients. closed: all their values are among those of universe().
import { z } from 'zod'

interface Tree {
  value: number
  next: Tree | null
}
const Tree: z.ZodType<Tree> = z.object({
  value: z.int(),
  get next() {
    return Tree.nullable()
  },
})

export const kZod: Readonly<Record<string, z.ZodType>> = {
  int: z.int(),
  int32: z.int32(),
  uint32: z.uint32(),
  float32: z.float32(),
  bounds: z.number().gt(0).lte(100),
  steps: z.number().multipleOf(5),
  hundredths: z.number().min(0).max(50).multipleOf(0.01),
  'unbounded hundredths': z.number().multipleOf(0.01),
  negative: z.number().negative(),
  email: z.email(),
  uuid: z.uuid(),
  guid: z.guid(),
  url: z.url(),
  emoji: z.emoji(),
  nanoid: z.nanoid(),
  cuid2: z.cuid2(),
  ulid: z.ulid(),
  ipv4: z.ipv4(),
  ipv6: z.ipv6(),
  cidrv4: z.cidrv4(),
  base64: z.base64(),
  base64url: z.base64url(),
  e164: z.e164(),
  jwt: z.jwt(),
  hostname: z.hostname(),
  hash: z.hash('sha256'),
  date: z.iso.date(),
  time: z.iso.time(),
  'date-time': z.iso.datetime(),
  'date-time with offset': z.iso.datetime({ offset: true }),
  'local date-time': z.iso.datetime({ local: true }),
  duration: z.iso.duration(),
  regex: z.string().regex(/^[A-Z]{2}-\d+$/),
  password: z.string().regex(/^(?=.*[A-Z])(?=.*\d)(?!.*\s).{8,12}$/),
  startsWith: z.string().startsWith('a.b'),
  endsWith: z.string().endsWith(')'),
  includes: z.string().includes('x+'),
  uppercase: z.string().uppercase(),
  several: z.string().startsWith('a').endsWith('z').max(9),
  lengths: z.string().min(2).max(4),
  template: z.templateLiteral(['v', z.number(), '.', z.enum(['a', 'b'])]),
  any: z.any(),
  object: z.object({
    a: z.string(),
    b: z.number().optional(),
    c: z.string().nullable(),
    d: z.string().nullish(),
    e: z.string().default('x'),
  }),
  loose: z.looseObject({ a: z.string() }),
  catchall: z.object({ a: z.string() }).catchall(z.number()),
  record: z.record(z.string(), z.number()),
  'record by pattern': z.record(z.string().regex(/^x-/), z.number()),
  array: z.array(z.string()).min(1).max(3),
  rest: z.tuple([z.string()], z.boolean()),
  union: z.union([z.string(), z.number(), z.null()]),
  tagged: z.discriminatedUnion('type', [
    z.object({ type: z.literal('a'), x: z.int() }),
    z.object({ type: z.literal('b'), y: z.string() }),
  ]),
  intersection: z.looseObject({ a: z.string() }).and(z.looseObject({ b: z.int() })),
  prefault: z.string().prefault('x'),
  described: z
    .string()
    .describe('d')
    .meta({ title: 't', examples: ['a'] }),
  recursive: Tree,
  json: z.json(),
  users: z.object({
    users: z.array(
      z.object({
        id: z.uuid(),
        emails: z.array(z.email()).max(3),
        role: z.enum(['admin', 'user']),
        at: z.iso.datetime(),
        tags: z.record(z.string(), z.string()),
      }),
    ),
  }),
}

const bit = z.union([z.literal(0), z.literal(1)])
const letter = z.enum(['a', 'b'])
export const kClosed: Readonly<Record<string, z.ZodType>> = {
  literal: z.literal(['a', 1, null, true]),
  enum: letter,
  'enum of numbers': z.enum({ one: 1, two: 2 }),
  boolean: z.boolean(),
  null: z.null(),
  int: z.int().min(-1).max(3),
  half: z.number().min(1).max(1.5).multipleOf(0.5),
  nullable: letter.nullable(),
  object: z.strictObject({ a: letter, b: bit.optional() }),
  'closed output': z.object({ a: letter.nullable(), b: z.boolean().optional() }),
  nested: z.strictObject({ a: z.strictObject({ a: bit }) }),
  tuple: z.tuple([letter, bit]),
  'tuple with an optional item': z.tuple([letter, bit.optional()]),
  array: z.array(letter).max(2),
  'array of one or two': z.array(z.boolean()).nonempty().max(2),
  record: z.record(letter, bit),
  'partial record': z.partialRecord(letter, bit),
  tagged: z.discriminatedUnion('a', [
    z.strictObject({ a: z.literal('a'), b: bit }),
    z.strictObject({ a: z.literal('b'), b: z.null().optional() }),
  ]),
  exclusive: z.xor([z.enum(['a', 'b']), z.enum(['b', 'ab'])]),
  union: z.union([letter, bit, z.array(bit).max(1)]),
  strings: z.string().regex(/^(a|ab|b)$/),
  'a string that is not': z
    .string()
    .regex(/^(?!ab)[ab]{1,2}$/)
    .max(1),
}
