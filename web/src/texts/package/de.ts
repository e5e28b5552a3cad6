// What the package says of files, in German. The English text is the key, and the package has it: {} stands there for a part that
// differs, {#byte} for "1 byte" or "2 bytes", {~} for another text of the table; {0} in a translation is the first of them, and
// {0#Byte/Byte} the number with the word for 1 or for others. A test finds what lacks a translation.
import header from './de-header.ts'
import keys from './de-keys.ts'
import messages from './de-messages.ts'
import rules from './de-rules.ts'

export default { ...rules, ...messages, ...header, ...keys }
