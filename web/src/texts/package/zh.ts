// What the package says of files, in Chinese. The English text is the key, and the package has it: {} stands there for a part that
// differs, {#byte} for "1 byte" or "2 bytes", {~} for another text of the table; {0} in a translation is the first of them, and
// {0#Byte/Byte} the number with the word for 1 or for others. A test finds what lacks a translation.
import header from './zh-header.ts'
import keys from './zh-keys.ts'
import messages from './zh-messages.ts'
import rules from './zh-rules.ts'

export default { ...rules, ...messages, ...header, ...keys }
