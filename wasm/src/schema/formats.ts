// Enforced formats: regular expressions that match a subset of each format's texts, or bounds of numbers. All other
// formats are annotations, as the specification says. Names do not contain two adjacent hyphens, because those mark
// encoded names, which have further rules.
const kLabel = '[a-zA-Z0-9](-?[a-zA-Z0-9]){0,19}'
const kHost = `${kLabel}(\\.${kLabel}){0,3}`
const kDay =
  '[0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))'
const kTime = '([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])'
const kByte = '(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])'
const kPath = '(/([a-zA-Z0-9._~-][a-zA-Z0-9._~/-]{0,100})?)?'
const kEmail = `[a-zA-Z0-9_]{1,30}([.+-][a-zA-Z0-9_]{1,20}){0,2}@(${kLabel}\\.){1,3}[a-zA-Z]{2,12}`
const kUri = `https?://${kHost}${kPath}`
const kPointer = '(/([a-zA-Z0-9._-]|~[01]){0,30}){0,8}'

export const kStringFormats: Readonly<Record<string, string>> = {
  date: kDay,
  time: kTime,
  'date-time': `${kDay}T${kTime}`,
  'iso-time': kTime,
  'iso-date-time': `${kDay}T${kTime}`,
  duration:
    'P([0-9]{1,4}W|([0-9]{1,4}Y)?[0-9]{1,4}M([0-9]{1,4}D)?|[0-9]{1,4}D(T[0-9]{1,4}H)?|T[0-9]{1,4}(H|M|S))',
  uuid: '[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}',
  email: kEmail,
  'idn-email': kEmail,
  hostname: kHost,
  'idn-hostname': kHost,
  ipv4: `${kByte}(\\.${kByte}){3}`,
  ipv6: '([0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}',
  uri: kUri,
  url: `https?://(${kLabel}\\.){1,4}[a-zA-Z]{2,12}${kPath}`,
  iri: kUri,
  'uri-reference': `(https?://${kHost})?${kPath}`,
  'iri-reference': `(https?://${kHost})?${kPath}`,
  'uri-template': `https?://${kHost}(/([a-zA-Z0-9._~-]{0,40}|\\{[a-zA-Z0-9_]{1,20}\\})){0,8}`,
  'json-pointer': kPointer,
  'relative-json-pointer': `(0|[1-9][0-9]{0,3})(#|${kPointer})`,
  'json-pointer-uri-fragment': `#${kPointer}`,
  regex: '[a-zA-Z0-9 _-]{0,60}',
  byte: '([a-zA-Z0-9+/]{4})*([a-zA-Z0-9+/]{2}==|[a-zA-Z0-9+/]{3}=)?',
}

// Listed values may be any text of a format. These find more of its texts, in upper or lower case.
const kChar = "([a-z0-9._~!$&'()*+,;=-]|%[0-9a-f]{2})"
const kSegment = `(${kChar}|[:@])`
const kAfter = `([?](${kSegment}|[/?])*)?(#(${kSegment}|[/?])*)?`
const kAuthority = `//((${kChar}|:)*@)?${kChar}*(:[0-9]*)?(/${kSegment}*)*`
const kOwner = "[a-z0-9!#$%&'*+/=?^_`{|}~-]+"
const kName = '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?'
const kVariable = '([a-z0-9_]|%[0-9a-f]{2})+(:[1-9][0-9]{0,3}|[*])?'
const kLeapDay = '([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29'
const kLongTime = kTime.replace('{1,9}', '+')
const kSegments = `${kSegment}+(/${kSegment}*)*`
const kAnyPointer = '(/([^~/]|~[01])*)*'
const kListed: Readonly<Record<string, string>> = {
  date: kLeapDay,
  time: kLongTime,
  'iso-time': kLongTime,
  'date-time': `(${kDay}|${kLeapDay})T${kLongTime}`,
  'iso-date-time': `(${kDay}|${kLeapDay})T${kLongTime}`,
  duration: 'P([0-9]+W|(?=.)([0-9]+Y)?([0-9]+M)?([0-9]+D)?(T(?=.)([0-9]+H)?([0-9]+M)?([0-9]+S)?)?)',
  uuid: `(urn:uuid:)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`,
  email: `${kOwner}([.]${kOwner})*@(${kName}[.])+${kName}`,
  hostname: `(?=.{1,253}[.]?$)${kName}([.]${kName})*[.]?`,
  uri: `[a-z][a-z0-9+.-]*:(${kAuthority}|/(${kSegments})?|${kSegments})${kAfter}`,
  url: `(https?|ftp)://(${kName}[.])+[a-z]{2,}(:[0-9]{2,5})?(/[^\\s]*)?`,
  'uri-reference': `(${kAuthority}|/?(${kSegments})?)${kAfter}`,
  'uri-template': `([^\\x00-\\x20"'<>%\\\\^\`{|}]|%[0-9a-f]{2}|[{][+#./;?&=,!@|]?${kVariable}(,${kVariable})*[}])*`,
  'json-pointer': kAnyPointer,
  'relative-json-pointer': `(0|[1-9][0-9]*)(#|${kAnyPointer})`,
}

/** Whether a text has a format. Unknown formats are annotations. */
export function hasFormat(format: string, value: string): boolean {
  if (!Object.hasOwn(kStringFormats, format)) return true
  if (new RegExp(`^(${kStringFormats[format]!})$`).test(value)) return true
  try {
    if (format === 'regex') return new RegExp(value) instanceof RegExp && !/[^\\]\\Z/.test(value)
    if (format === 'ipv6') return /^[0-9a-f:.]+$/i.test(value) && new URL(`http://[${value}]`).port === ''
  } catch {
    return false
  }
  return Object.hasOwn(kListed, format) && new RegExp(`^(${kListed[format]!})$`, 'i').test(value)
}

interface NumberFormat {
  readonly integer?: true
  readonly minimum?: number
  readonly maximum?: number
}
export const kNumberFormats: Readonly<Record<string, NumberFormat>> = {
  int32: { integer: true, minimum: -(2 ** 31), maximum: 2 ** 31 - 1 },
  int64: { integer: true, minimum: -(2 ** 63), maximum: 2 ** 63 },
}
