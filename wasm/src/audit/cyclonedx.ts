// An audit as a bill of materials: CycloneDX 1.6 with one machine-learning model for each file.
import { countFindings, publicName } from './levels.js'
import { checkReport } from './report-checks.js'
import type { AuditedFile, AuditReport, FormatOptions, Origin, TensorHashes } from './types.js'

/** SPDX identifiers of licenses of models. Hubs write them in lower case, the GPL without its ending. */
const kSpdx =
  `Apache-2.0 MIT BSD-2-Clause BSD-3-Clause BSL-1.0 ISC Unlicense Zlib MPL-2.0 EPL-2.0 EUPL-1.2 Artistic-2.0
  AFL-3.0 ECL-2.0 OFL-1.1 WTFPL CC0-1.0 CC-BY-2.0 CC-BY-3.0 CC-BY-4.0 CC-BY-SA-3.0 CC-BY-SA-4.0 CC-BY-NC-2.0 CC-BY-NC-3.0
  CC-BY-NC-4.0 CC-BY-ND-4.0 CC-BY-NC-ND-3.0 CC-BY-NC-ND-4.0 CC-BY-NC-SA-2.0 CC-BY-NC-SA-3.0 CC-BY-NC-SA-4.0 GPL-2.0-only
  GPL-3.0-only AGPL-3.0-only LGPL-2.1-only LGPL-3.0-only GPL-2.0-or-later GPL-3.0-or-later AGPL-3.0-or-later`.split(
    /\s+/,
  )

function licenseOf(name: string): object {
  const known = kSpdx.find((id) =>
    [id.toLowerCase(), id.toLowerCase().replace(/-only$/, '')].includes(name.trim().toLowerCase()),
  )
  return known === undefined ? { license: { name } } : { license: { id: known } }
}

const isAddress = (text: string | undefined): text is string =>
  text !== undefined && /^https?:\/\/\S+$/i.test(text) && URL.canParse(text)

const referencesOf = (type: string, ...urls: readonly (string | undefined)[]): object =>
  urls.some(isAddress)
    ? { externalReferences: urls.filter(isAddress).map((url) => ({ type, url: new URL(url).href })) }
    : {}

const originOf = ({ name, organization, url }: Origin): object => ({
  type: 'machine-learning-model',
  name,
  ...(organization !== undefined && { publisher: organization }),
  ...referencesOf('website', url),
})

/** The hashes that CycloneDX has names for. */
function hashesOf(hashes: Readonly<Record<string, string | undefined>>): object {
  const list = [
    ['SHA-256', hashes['sha256']],
    ['SHA-1', hashes['sha1']],
  ].flatMap(([alg, content]) => (content === undefined ? [] : [{ alg, content }]))
  return list.length === 0 ? {} : { hashes: list }
}

const property = (name: string, value: string | number | undefined): object[] =>
  value === undefined || value === '' ? [] : [{ name: `ggufscope:${name}`, value: String(value) }]

const tensorOf = ({ name, hashes }: TensorHashes): object => ({
  type: 'data',
  name,
  ...hashesOf(hashes),
  ...(hashes.xxh64 !== undefined && { properties: property('xxh64', hashes.xxh64) }),
})

function modelCardOf({ architecture, datasets, title, fileType }: AuditedFile): object {
  return {
    modelParameters: {
      ...(architecture !== undefined && { architectureFamily: architecture }),
      ...(title !== undefined && { modelArchitecture: title }),
      ...(datasets.length > 0 && {
        datasets: datasets.map(({ name, url }) => ({
          type: 'dataset',
          name,
          ...(isAddress(url) && { contents: { url } }),
        })),
      }),
    },
    ...(fileType !== undefined && { properties: property('quantization', fileType) }),
  }
}

function componentOf(file: AuditedFile, index: number): object {
  const { hashes, baseModels, license } = file
  const [only] = hashes?.files ?? []
  const counts = countFindings({ files: [file], duplicates: [] })
  const tags = file.tags.filter((tag) => tag !== '')
  return {
    type: 'machine-learning-model',
    'bom-ref': `model-${index + 1}`,
    name: file.title ?? publicName(file.name),
    ...(file.version !== undefined && { version: file.version }),
    ...(file.description !== undefined && { description: file.description }),
    ...(file.organization !== undefined && { publisher: file.organization }),
    ...(file.author !== undefined && { authors: [{ name: file.author }] }),
    ...(license !== undefined && { licenses: [licenseOf(license)] }),
    ...(hashes?.files.length === 1 ? hashesOf({ sha256: only!.sha256 }) : {}),
    ...referencesOf('website', file.url),
    ...(baseModels.length > 0 && { pedigree: { ancestors: baseModels.map(originOf) } }),
    ...(tags.length > 0 && { tags }),
    modelCard: modelCardOf(file),
    ...(hashes && hashes.tensors.length > 0 && { components: hashes.tensors.map(tensorOf) }),
    properties: [
      ...property('file', publicName(file.name)),
      ...property('size', file.size),
      ...property('parameters', file.parameters),
      ...(hashes?.files ?? []).flatMap(({ name = 'file', hashes: own, sha256 }) => [
        ...(hashes!.files.length > 1 ? property(`sha256:${name}`, sha256) : []),
        ...Object.entries(own).flatMap(([algorithm, hash]) =>
          property(`tensor-data:${algorithm}:${name}`, hash),
        ),
      ]),
      ...Object.entries(counts).flatMap(([severity, count]) => property(`findings:${severity}`, count)),
    ],
  }
}

/** Writes a report as a CycloneDX 1.6 bill of materials. */
export function toCycloneDx(report: AuditReport, options: FormatOptions = {}): object {
  checkReport('toCycloneDx()', report, options)
  const { version, now = new Date() } = options
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${crypto.randomUUID()}`,
    version: 1,
    metadata: {
      timestamp: now.toISOString(),
      tools: {
        components: [{ type: 'application', name: 'ggufscope', ...(version !== undefined && { version }) }],
      },
    },
    components: report.files.map(componentOf),
  }
}
