// JSON schemas as grammars: what the grammar accepts by a reader of its own, and that all that it can write is valid
// by Ajv.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { Ajv2020 } from 'ajv/dist/2020.js'
import ajvFormats from 'ajv-formats'
import type * as Engine from 'ggufscope/engine'
import { Gbnf } from './gbnf.ts'
import { packedFile } from './packed.ts'

const { schemaToGrammar } = (await import(
  pathToFileURL(packedFile('wasm/dist/engine/index.js')).href
)) as typeof Engine

interface Case {
  readonly name: string
  readonly schema: Engine.JsonSchema
  /** values in their canonical spelling, or texts that begin with a space */
  readonly accepts?: readonly unknown[]
  readonly rejects?: readonly unknown[]
}

const node = { $ref: '#/$defs/node' }
const kCases: readonly Case[] = [
  {
    name: 'anything',
    schema: true,
    accepts: [null, true, -1.5e3, 'a "b" \\ \n \u00e4 \u{1f41d}', [], [1, [2]], {}, { a: { b: [] } }, 0],
  },
  {
    name: 'any object',
    schema: { type: 'object' },
    accepts: [{}, { a: 1, b: { c: null } }],
    rejects: [[], 1, 'x', null],
  },
  { name: 'boolean', schema: { type: 'boolean' }, accepts: [true, false], rejects: [null, 'true', 0] },
  { name: 'null', schema: { type: 'null' }, accepts: [null], rejects: [false, 'null'] },
  { name: 'types', schema: { type: ['string', 'null'] }, accepts: ['', null], rejects: [0, []] },
  {
    name: 'const',
    schema: { const: { a: [1, 'x"y'] } },
    accepts: [{ a: [1, 'x"y'] }],
    rejects: [{}, { a: [1] }],
  },
  {
    name: 'enum',
    schema: { enum: ['a', 1, null, 'b\n'] },
    accepts: ['a', 1, null, 'b\n'],
    rejects: ['b', 2],
  },
  { name: 'enum of a type', schema: { type: 'string', enum: ['a', 1] }, accepts: ['a'], rejects: [1] },
  {
    name: 'an object in order',
    schema: {
      type: 'object',
      properties: {
        name: { type: 'string' },
        age: { type: 'integer', minimum: 0 },
        dog: { type: 'boolean' },
      },
      required: ['name', 'age', 'dog'],
      additionalProperties: false,
    },
    accepts: [{ name: 'Ann', age: 7, dog: true }],
    rejects: [
      {},
      { name: 'Ann', age: -1, dog: true },
      { age: 7, name: 'Ann', dog: true },
      { name: 'Ann', age: 7 },
    ],
  },
  {
    name: 'optional properties',
    schema: {
      properties: { a: { const: 1 }, b: { const: 2 }, c: { const: 3 }, d: { const: 4 } },
      required: ['c'],
      type: 'object',
    },
    accepts: [{ c: 3 }, { a: 1, c: 3 }, { b: 2, c: 3, d: 4 }, { a: 1, b: 2, c: 3, d: 4 }, { c: 3, d: 4 }],
    rejects: [{}, { a: 1 }, { c: 3, e: 5 }, { d: 4, c: 3 }],
  },
  {
    name: 'all optional',
    schema: {
      type: 'object',
      properties: { a: { const: 1 }, b: { const: 2 }, long_name_of_a_property: { type: 'null' } },
    },
    accepts: [{}, { a: 1 }, { b: 2 }, { a: 1, b: 2 }, { a: 1, long_name_of_a_property: null }],
    rejects: [{ b: 2, a: 1 }, { c: 1 }],
  },
  {
    name: 'additional properties',
    schema: {
      type: 'object',
      properties: { a: { const: 1 }, ab: { const: 2 }, 'x-"': { const: 3 } },
      additionalProperties: { type: 'integer' },
      required: ['a'],
    },
    accepts: [{ a: 1 }, { a: 1, b: 5 }, { a: 1, ab: 2, abc: 3, '': 7 }, { a: 1, aa: 0, b: 2 }],
    rejects: [{ a: 2 }, { a: 1, b: 'x' }, ' {"a":1,"a":7}', ' {"a":1,"\\u0061b":7}', ' {"a":1,"ab":7}'],
  },
  {
    name: 'a map',
    schema: { type: 'object', additionalProperties: { type: 'boolean' }, minProperties: 1, maxProperties: 2 },
    accepts: [{ a: true }, { a: true, b: false }],
    rejects: [{}, { a: 1 }, { a: true, b: true, c: true }],
  },
  {
    name: 'no properties',
    schema: { type: 'object', additionalProperties: false },
    accepts: [{}],
    rejects: [{ a: 1 }],
  },
  {
    name: 'required alone',
    schema: { type: 'object', required: ['id'] },
    accepts: [{ id: [] }],
    rejects: [{}],
  },
  { name: 'any array', schema: { type: 'array' }, accepts: [[], [1, 'a', [null]]], rejects: [{}, 1] },
  {
    name: 'arrays of some length',
    schema: { type: 'array', items: { type: 'integer' }, minItems: 2, maxItems: 4 },
    accepts: [[1, 2], [1, 2, 3, 4]], // prettier-ignore
    rejects: [[], [1], [1, 2, 3, 4, 5], ['a', 'b'], [1, 2.5]], // prettier-ignore
  },
  { name: 'at most one', schema: { items: { const: 'x' }, maxItems: 1, type: 'array' }, accepts: [[], ['x']], rejects: [['x', 'x'], ['y']] }, // prettier-ignore
  { name: 'empty arrays', schema: { type: 'array', maxItems: 0 }, accepts: [[]], rejects: [[1]] },
  {
    name: 'tuples',
    schema: {
      type: 'array',
      prefixItems: [{ type: 'string' }, { type: 'integer' }],
      items: { type: 'null' },
      maxItems: 3,
    },
    accepts: [[], ['a'], ['a', 1], ['a', 1, null]], // prettier-ignore
    rejects: [['a', 1, 2], ['a', 1, null, null], [1, 'a']], // prettier-ignore
  },
  {
    name: 'open tuples, whole',
    schema: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }] },
    accepts: [['a', 1]],
    rejects: [[], ['a'], ['a', 1, 2]],
  },
  {
    name: 'closed tuples',
    schema: { type: 'array', prefixItems: [{ const: 1 }], items: false },
    accepts: [[1], []],
    rejects: [[1, 1], [2]],
  },
  {
    name: 'lengths',
    schema: { type: 'string', minLength: 2, maxLength: 3 },
    accepts: ['ab', 'a"c', '\u{1f41d}\n'],
    rejects: ['', 'a', 'abcd'],
  },
  {
    name: 'integers',
    schema: { type: 'integer' },
    accepts: [0, -7, 123456789012345],
    rejects: [1.5, ' 01', ' +1', ' 1e3', ' -', ' 1.0'],
  },
  {
    name: 'numbers',
    schema: { type: 'number' },
    accepts: [0, -0.5, 3.25, 1e-7, 2e21],
    rejects: [' .5', ' 5.', ' 01', ' 1e', ' 1e999', 'x'],
  },
  { name: 'a whole number', schema: { type: 'number', multipleOf: 1 }, accepts: [3], rejects: [3.5] },
  {
    name: 'a range',
    schema: { type: 'integer', minimum: 17, maximum: 1203 },
    accepts: [17, 99, 100, 999, 1000, 1199, 1203],
    rejects: [16, 1204, 7, 0, -20, 2000, 10000],
  },
  {
    name: 'around zero',
    schema: { type: 'integer', exclusiveMinimum: -13, maximum: 5 },
    accepts: [-12, -9, -1, 0, 5],
    rejects: [-13, 6, -20, ' -0'],
  },
  {
    name: 'below zero',
    schema: { type: 'integer', minimum: -120, exclusiveMaximum: -7 },
    accepts: [-120, -8, -19, -100],
    rejects: [-7, 0, -121, -999, 8],
  },
  {
    name: 'from something',
    schema: { type: 'integer', minimum: 95 },
    accepts: [95, 99, 100, 12345678, 999999999999999],
    rejects: [94, 9, 0, -95],
  },
  {
    name: 'half open',
    schema: { type: 'integer', minimum: 1.5, maximum: 3.5 },
    accepts: [2, 3],
    rejects: [1, 4],
  },
  {
    name: 'numbers from 0 to 1',
    schema: { type: 'number', minimum: 0, maximum: 1 },
    accepts: [0, 1, 0.25, ' 1.000'],
    rejects: [1.5, -0.5, 2, ' 1.01'],
  },
  {
    name: 'numbers between',
    schema: { type: 'number', exclusiveMinimum: -2, exclusiveMaximum: 12 },
    accepts: [-1.5, -1, 0, 11.75, 9],
    rejects: [-2, 12, -2.5, 12.5, ' -2.0'],
  },
  {
    name: 'numbers above 0',
    schema: { type: 'number', exclusiveMinimum: 0 },
    accepts: [0.001, 1, 12.5],
    rejects: [0, -1, ' 0.00'],
  },
  {
    name: 'numbers below 0',
    schema: { type: 'number', exclusiveMaximum: 0 },
    accepts: [-0.001, -12.5],
    rejects: [0, 1, ' -0.0', ' -0'],
  },
  {
    name: 'pattern',
    schema: { type: 'string', pattern: '^[A-Z][a-z]{1,3}(-\\d+)?$' },
    accepts: ['Ab', 'Abcd-12'],
    rejects: ['A', 'ab', 'Abcde', 'Ab-'],
  },
  {
    name: 'pattern inside',
    schema: { type: 'string', pattern: 'b+|^z' },
    accepts: ['b', 'abc', 'zoo', '"b"'],
    rejects: ['', 'a', 'oz'],
  },
  {
    name: 'pattern of what JSON escapes',
    schema: { type: 'string', pattern: '^["\\\\\\n\\u{1F41D}.](?:\\t|[^\\W\\d])*?$' },
    accepts: ['"', '\\a', '\n\t', '\u{1f41d}b', '._'],
    rejects: ['a', '"1', ''],
  },
  {
    name: 'pattern of any',
    schema: { type: 'string', pattern: '^.[^a-c]\\S$' },
    accepts: ['xyz', '""\u0001'],
    rejects: ['\nyz', 'xaz', 'xy '],
  },
  {
    name: 'date',
    schema: { type: 'string', format: 'date' },
    accepts: ['2024-02-28', '1999-12-31'],
    rejects: ['2024-13-01', '2024-04-31', '24-1-1'],
  },
  {
    name: 'date-time',
    schema: { type: 'string', format: 'date-time' },
    accepts: ['2024-02-28T23:59:59Z', '2024-01-01T00:00:00.5+01:00'],
    rejects: ['2024-02-28'],
  },
  {
    name: 'time',
    schema: { type: 'string', format: 'time' },
    accepts: ['12:00:00Z'],
    rejects: ['24:00:00Z'],
  },
  {
    name: 'uuid',
    schema: { type: 'string', format: 'uuid' },
    accepts: ['123e4567-e89b-12d3-a456-426614174000'],
    rejects: ['123'],
  },
  {
    name: 'email',
    schema: { type: 'string', format: 'email' },
    accepts: ['ann.b@example.org'],
    rejects: ['ann', '@x.y'],
  },
  {
    name: 'ipv4',
    schema: { type: 'string', format: 'ipv4' },
    accepts: ['255.0.12.199'],
    rejects: ['256.0.0.1', '1.2.3', '01.2.3.4'],
  },
  { name: 'ipv6', schema: { type: 'string', format: 'ipv6' }, accepts: ['1:2:3:4:5:6:7:8'], rejects: ['1'] },
  {
    name: 'hostname',
    schema: { type: 'string', format: 'hostname' },
    accepts: ['a-b.example'],
    rejects: ['-a', 'a..b'],
  },
  {
    name: 'uri',
    schema: { type: 'string', format: 'uri' },
    accepts: ['https://example.org/a/b_c'],
    rejects: ['example.org'],
  },
  {
    name: 'anyOf',
    schema: { anyOf: [{ type: 'integer' }, { type: 'string', maxLength: 1 }] },
    accepts: [1, 'a'],
    rejects: ['ab', null],
  },
  {
    name: 'anyOf with what all have',
    schema: {
      type: 'object',
      properties: { kind: { enum: ['a', 'b'] } },
      required: ['kind'],
      anyOf: [
        { properties: { kind: { const: 'a' }, x: { type: 'integer' } }, required: ['x'] },
        { properties: { kind: { const: 'b' } } },
      ],
    },
    accepts: [{ kind: 'a', x: 1 }, { kind: 'b' }],
    rejects: [{ kind: 'a' }, { kind: 'b', x: 1 }, { x: 1 }],
  },
  {
    name: 'oneOf',
    schema: {
      oneOf: [
        { type: 'object', properties: { a: { type: 'null' } }, required: ['a'] },
        { type: 'array', items: { type: 'null' } },
      ],
    },
    accepts: [{ a: null }, [null]],
    rejects: [{}, null],
  },
  {
    name: 'allOf',
    schema: {
      allOf: [
        { type: 'object', properties: { a: { type: 'integer', minimum: 3 } }, required: ['a'] },
        { $ref: '#/$defs/b' },
        { properties: { a: { maximum: 5 } } },
      ],
      $defs: { b: { properties: { b: { type: 'string' } }, required: ['b'] } },
    },
    accepts: [{ a: 4, b: '' }],
    rejects: [{ a: 2, b: '' }, { a: 6, b: '' }, { a: 4 }],
  },
  {
    name: 'allOf of closed objects',
    schema: {
      allOf: [
        { type: 'object', properties: { a: { const: 1 } }, additionalProperties: false },
        { properties: { a: true, b: { const: 2 } } },
      ],
    },
    accepts: [{}, { a: 1 }],
    rejects: [{ b: 2 }, { a: 1, b: 2 }],
  },
  {
    name: 'recursion',
    schema: {
      $ref: '#/$defs/node',
      $defs: {
        node: {
          type: 'object',
          properties: {
            v: { type: 'integer', minimum: 0, maximum: 9 },
            next: { anyOf: [{ type: 'null' }, node] },
          },
          required: ['v', 'next'],
        },
      },
    },
    accepts: [
      { v: 1, next: null },
      { v: 1, next: { v: 2, next: { v: 3, next: null } } },
    ],
    rejects: [{ v: 1 }, null, { v: 1, next: {} }],
  },
  {
    name: 'a tree by #',
    schema: { type: 'object', properties: { children: { type: 'array', items: { $ref: '#' } } } },
    accepts: [{}, { children: [{}, { children: [] }] }],
    rejects: [{ children: [1] }],
  },
  {
    name: 'white space',
    schema: { type: 'object', properties: { a: { type: 'array', items: { const: 1 } } } },
    accepts: [' {\n  "a": [\n    1,\n    1\n  ]\n}', ' { "a": [ 1, 1 ] }'.slice(0)],
    rejects: [' {"a"  :[]}'],
  },
  {
    name: 'integers of any number of digits',
    schema: { type: 'integer' },
    accepts: [' 1234567890123456', ' -9007199254740993', ' 18446744073709551615'],
  },
  {
    name: 'integers of 64 bits',
    schema: { type: 'integer', minimum: -(2 ** 63), maximum: 2 ** 63 },
    accepts: [' 9223372036854775807', ' -9223372036854775808', 0, ' 1234567890123456'],
    rejects: [' 9223372036854775809', ' -9223372036854775809', ' 99223372036854775807'],
  },
  {
    name: 'multiples',
    schema: { type: 'integer', multipleOf: 12, minimum: -30, exclusiveMaximum: 60 },
    accepts: [-24, -12, 0, 12, 48],
    rejects: [-36, 6, 60, 13],
  },
  { name: 'large multiples', schema: { type: 'integer', multipleOf: 36000000 }, accepts: [0, 36000000, -72000000], rejects: [36000, 360000000.5, 100000000] }, // prettier-ignore
  { name: 'halves', schema: { type: 'number', multipleOf: 0.25 }, accepts: [0.25, 3, -1.75, ' 1.50'], rejects: [0.3, 1.125] }, // prettier-ignore
  {
    name: 'cents within bounds',
    schema: { type: 'number', multipleOf: 0.01, minimum: 0, maximum: 1 },
    accepts: [0, 0.01, 0.5, 1],
    rejects: [0.005, 1.01, -0.01],
  },
  {
    name: 'fractional bounds',
    schema: { type: 'number', exclusiveMinimum: 0.5, maximum: 12.75 },
    accepts: [0.51, 0.500001, 12.75, 1, 9, ' 12.750'],
    rejects: [0.5, ' 0.50', 12.76, 0, 13, -1],
  },
  {
    name: 'small bounds',
    schema: { type: 'number', minimum: -1e-7, exclusiveMaximum: 1e-7 },
    accepts: [0, ' 0.00000009', ' -0.0000001'],
    rejects: [1, ' 0.0000001', ' -0.0000002'],
  },
  {
    name: 'pattern, lengths and format',
    schema: { type: 'string', pattern: '^[a-z@.]+$', minLength: 7, maxLength: 9, format: 'email' },
    accepts: ['a@bc.de', 'ab@cd.efg'],
    rejects: ['a@b.de', 'a@bcd.efgh', 'A@bc.de', 'abcdefg'],
  },
  {
    name: 'looking ahead',
    schema: { type: 'string', pattern: '^(?=.*\\d)(?!.*z)[a-z\\d]{2,4}$' },
    accepts: ['a1', '1abc'],
    rejects: ['ab', '1', 'a1z', 'a1bcd'],
  },
  { name: 'looking ahead after some characters', schema: { type: 'string', pattern: '^P(?:\\dW|(?!.*W)(?=\\d|T)[\\dT]{2}(?!9)\\w?)$' }, accepts: ['P1W', 'P12', 'PT1x'], rejects: ['PW', 'P129', 'P1WW'] }, // prettier-ignore
  { name: 'lengths that a format has anyway', schema: { type: 'string', format: 'uri', minLength: 1, maxLength: 2083 }, accepts: ['https://example.org/a'], rejects: ['x'] }, // prettier-ignore
  { name: 'word borders', schema: { type: 'string', pattern: '\\bab\\b' }, accepts: ['ab', 'x ab.'], rejects: ['xab', 'abc'] }, // prettier-ignore
  { name: 'properties of characters', schema: { type: 'string', pattern: '^\\p{Lu}\\P{L}$' }, accepts: ['A1', 'Ä-'], rejects: ['a1', 'AB'] }, // prettier-ignore
  { name: 'a format that nobody knows', schema: { type: 'string', format: 'colour' }, accepts: ['red', ''], rejects: [1] }, // prettier-ignore
  { name: 'a keyword that nobody knows', schema: { type: 'null', 'x-order': 1 }, accepts: [null] },
  {
    name: 'enum with neighbours',
    schema: {
      enum: ['a', 'abc', 1, 5, null, { a: 1 }, {}],
      minLength: 2,
      minimum: 3,
      required: ['a'],
      not: { type: 'null' },
    },
    accepts: ['abc', 5, { a: 1 }],
    rejects: ['a', 1, null, {}],
  },
  { name: 'nullable', schema: { type: 'string', nullable: true, maxLength: 1 }, accepts: ['a', null], rejects: ['ab', 1] }, // prettier-ignore
  {
    name: 'patternProperties',
    schema: {
      type: 'object',
      properties: { ab: { const: 1 } },
      patternProperties: { '^a': { type: 'integer' }, z$: { minimum: 5 } },
      additionalProperties: { type: 'null' },
    },
    accepts: [{}, { ab: 1 }, { ab: 1, ac: 3, b: null }, { az: 6 }, { bz: 7.5 }],
    rejects: [{ ab: 2 }, { ac: 'x' }, { b: 1 }, { az: 4 }, { az: 5.5 }],
  },
  {
    name: 'propertyNames',
    schema: {
      type: 'object',
      propertyNames: { pattern: '^[a-c]{2}$' },
      additionalProperties: { type: 'boolean' },
    },
    accepts: [{}, { ab: true }, { ab: true, cc: false }],
    rejects: [{ a: true }, { ab: 1 }, { abc: true }],
  },
  {
    name: 'a record of known keys',
    schema: { type: 'object', propertyNames: { enum: ['x', 'y'] }, additionalProperties: { type: 'integer' }, required: ['x'] }, // prettier-ignore
    accepts: [{ x: 1 }, { x: 1, y: 2 }],
    rejects: [{ y: 2 }, { x: 1, z: 2 }],
  },
  {
    name: 'counts of declared properties',
    schema: {
      type: 'object',
      properties: { a: { const: 1 }, b: { const: 2 }, c: { const: 3 } },
      additionalProperties: false,
      minProperties: 1,
      maxProperties: 2,
    },
    accepts: [{ a: 1 }, { c: 3 }, { a: 1, c: 3 }],
    rejects: [{}, { a: 1, b: 2, c: 3 }],
  },
  {
    name: 'dependentRequired',
    schema: {
      type: 'object',
      properties: { card: { type: 'integer' }, address: { type: 'string' } },
      dependentRequired: { card: ['address'] },
    },
    accepts: [{}, { address: 'x' }, { card: 1, address: 'x' }],
    rejects: [{ card: 1 }],
  },
  {
    name: 'oneOf without what others accept too',
    schema: {
      oneOf: [
        { type: 'integer', minimum: 0, maximum: 20 },
        { type: 'integer', minimum: 10, maximum: 30 },
      ],
    },
    accepts: [0, 9, 21, 30],
    rejects: [10, 20, 31],
  },
  {
    name: 'oneOf of required properties',
    schema: {
      type: 'object',
      properties: { a: { const: 1 }, b: { const: 2 } },
      oneOf: [{ required: ['a'] }, { required: ['b'] }],
    },
    accepts: [{ a: 1 }, { b: 2 }],
    rejects: [{}, { a: 1, b: 2 }],
  },
  {
    name: 'not',
    schema: { type: 'object', properties: { a: { type: 'integer', minimum: 0, maximum: 3, not: { enum: [1, 2] } } }, required: ['a'] }, // prettier-ignore
    accepts: [{ a: 0 }, { a: 3 }],
    rejects: [{ a: 1 }, { a: 2 }, {}],
  },
  { name: 'not of a text', schema: { type: 'string', not: { pattern: '^x' } }, accepts: ['', 'ax'], rejects: ['x', 'xy'] }, // prettier-ignore
  {
    name: 'if, then, else',
    schema: {
      type: 'object',
      properties: { k: { enum: ['a', 'b'] }, v: {} },
      required: ['k', 'v'],
      if: { properties: { k: { const: 'a' } } },
      then: { properties: { v: { type: 'integer' } } },
      else: { properties: { v: { type: 'string' } } },
    },
    accepts: [
      { k: 'a', v: 1 },
      { k: 'b', v: 'x' },
    ],
    rejects: [
      { k: 'a', v: 'x' },
      { k: 'b', v: 1 },
    ],
  },
  {
    name: 'contains',
    schema: {
      type: 'array',
      items: { enum: ['a', 'b'] },
      contains: { const: 'a' },
      minContains: 1,
      maxContains: 2,
      maxItems: 4,
    },
    accepts: [['a'], ['b', 'a', 'b', 'a']],
    rejects: [[], ['b'], ['a', 'a', 'a']],
  },
  {
    name: 'unique items of few values',
    schema: { type: 'array', items: { enum: ['x', 'y', 'z'] }, uniqueItems: true, minItems: 2 },
    accepts: [
      ['x', 'z'],
      ['z', 'y', 'x'],
    ],
    rejects: [['x'], ['x', 'x'], ['x', 'y', 'z', 'x']],
  },
  {
    name: 'unevaluatedProperties',
    schema: {
      type: 'object',
      allOf: [{ properties: { a: { const: 1 } } }],
      anyOf: [
        { properties: { b: { const: 2 } }, required: ['b'] },
        { properties: { c: { const: 3 } }, required: ['c'] },
      ],
      unevaluatedProperties: false,
    },
    accepts: [{ a: 1, b: 2 }, { c: 3 }, { b: 2, c: 3 }],
    rejects: [{ a: 1 }, { b: 2, d: 4 }],
  },
  {
    name: 'branches that nothing can pass',
    schema: {
      anyOf: [
        { type: 'string', minLength: 3, maxLength: 2 },
        { type: 'object', required: ['a'], properties: { a: false } },
        { const: 1 },
      ],
    },
    accepts: [1],
    rejects: ['', {}],
  },
  {
    name: 'anchors and $id',
    schema: {
      $id: 'https://example.org/root.json',
      type: 'array',
      items: { $ref: 'part.json#name' },
      $defs: { p: { $id: 'part.json', $defs: { n: { $anchor: 'name', type: 'string' } } } },
    },
    accepts: [['a']],
    rejects: [[1]],
  },
]

const texts = (values: readonly unknown[] = []) =>
  values.map((value) =>
    typeof value === 'string' && value.startsWith(' ') ? value.slice(1) : JSON.stringify(value),
  )

for (const { name, schema, accepts, rejects } of kCases) {
  test(`a schema's grammar: ${name}`, () => {
    const source = schemaToGrammar(schema)
    const grammar = new Gbnf(source)
    const ajv = new Ajv2020({ strict: false, unicodeRegExp: true })
    ajvFormats.default(ajv)
    const validate = ajv.compile(schema)
    for (const text of texts(accepts)) {
      assert.ok(grammar.accepts(text), `refuses ${text}\n${source}`)
      assert.ok(validate(JSON.parse(text)), `Ajv refuses ${text}`)
    }
    for (const text of texts(rejects)) assert.ok(!grammar.accepts(text), `accepts ${text}\n${source}`)
    let state = 1
    const random = () => (state = (state * 48271) % 2147483647) / 2147483647
    const written = new Set<string>()
    for (let i = 0; i < 200; i++) {
      const text = grammar.sample(random)
      written.add(text)
      assert.ok(
        validate(JSON.parse(text)),
        `Ajv refuses ${text}: ${ajv.errorsText(validate.errors)}\n${source}`,
      )
    }
    assert.ok(written.size > 0)
  })
}

test('what a grammar cannot keep is an error that names the place', () => {
  const deep = (depth: number): Engine.JsonSchema =>
    depth === 0 ? {} : { type: 'array', items: deep(depth - 1) }
  const cases: readonly (readonly [unknown, string, RegExp])[] = [
    [
      { type: 'object', properties: { a: { not: {} } }, required: ['a'] },
      'invalid-argument',
      /#\/properties\/a requires|requires "a" and forbids it/,
    ],
    [
      { properties: { a: { $recursiveRef: '#' } } },
      'unsupported',
      /#\/properties\/a\/\$recursiveRef is a keyword/,
    ],
    [{ type: 'array', uniqueItems: true }, 'unsupported', /schema at # has uniqueItems/],
    [{ not: { type: 'array', uniqueItems: true } }, 'unsupported', /#\/not has uniqueItems where/],
    [
      { properties: { 'a/b': { not: { format: 'date' } } } },
      'unsupported',
      /#\/properties\/a~1b\/not has the format date/,
    ],
    [{ type: 'object', minProperties: 2 }, 'unsupported', /needs 2 properties of any names/],
    [{ type: 'number', multipleOf: 0.01 }, 'unsupported', /multiples of 0.01/],
    [{ type: 'integer', multipleOf: 99991 }, 'unsupported', /multiples of 99991/],
    [{ type: 'string', pattern: '^a+(?=b)b$' }, 'unsupported', /looks ahead where/],
    [{ type: 'number', minimum: 1, exclusiveMinimum: 'x' }, 'invalid-argument', /#\/exclusiveMinimum is "x"/],
    [{ type: 'string', pattern: '^(?<=a)b$' }, 'unsupported', /look behind at character 4/],
    [{ type: 'string', pattern: '(a)\\1' }, 'unsupported', /"\\1" at character 3/],
    [{ type: 'string', pattern: '[z-a]' }, 'unsupported', /this range/],
    [{ type: 'string', pattern: '(a' }, 'unsupported', /without its end/],
    [{ type: 'string', pattern: 'a)' }, 'unsupported', /"\)" at character 1/],
    [{ type: 'string', pattern: 'a{2,1}' }, 'unsupported', /this \{/],
    [{ type: 'string', pattern: '(a|b)*a(a|b){16}', minLength: 3 }, 'unsupported', /too many states/],
    [{ $ref: 'other.json' }, 'unsupported', /refers to other.json/],
    [{ $ref: '#/$defs/none' }, 'invalid-argument', /which is not there/],
    [{ $ref: '#' }, 'invalid-argument', /refers to itself/],
    [{ allOf: [{ $ref: '#' }] }, 'invalid-argument', /refers to itself/],
    [
      {
        $defs: { a: { allOf: [{ $ref: '#/$defs/b' }, { type: 'object' }] }, b: { $ref: '#/$defs/a' } },
        $ref: '#/$defs/a',
      },
      'invalid-argument',
      /#\/\$defs\/a refers to itself/,
    ],
    [
      { type: 'object', properties: { a: { $ref: '#' } }, required: ['a'] },
      'invalid-argument',
      /no value keeps/,
    ],
    [deep(500), 'unsupported', /nests too deep/],
    [false, 'invalid-argument', /accepts nothing/],
    [null, 'invalid-argument', /is no schema/],
    ['object', 'invalid-argument', /is no schema/],
    [{ type: 'text' }, 'invalid-argument', /has the type "text"/],
    [{ type: 'integer', minimum: 5, maximum: 4 }, 'invalid-argument', /accepts nothing/],
    [{ type: 'integer', minimum: '5' }, 'invalid-argument', /#\/minimum is "5"/],
    [{ type: 'array', minItems: 3, maxItems: 2 }, 'invalid-argument', /accepts nothing/],
    [{ type: 'array', minItems: -1 }, 'invalid-argument', /#\/minItems is -1/],
    [{ type: 'string', enum: [1] }, 'invalid-argument', /accepts nothing/],
    [{ allOf: [{ type: 'string' }, { type: 'null' }] }, 'invalid-argument', /its types exclude each other/],
    [
      { type: 'object', required: ['a'], additionalProperties: false },
      'invalid-argument',
      /requires "a" and forbids it/,
    ],
    [{ anyOf: [] }, 'invalid-argument', /#\/anyOf is no array/],
  ]
  for (const [schema, code, message] of cases) {
    assert.throws(
      () => schemaToGrammar(schema as Engine.JsonSchema),
      { code, message },
      JSON.stringify(schema),
    )
  }
})
