// What the package says, in German. The English text is the key, and the package has it: {} stands there for a part that differs,
// {#byte} for "1 byte" or "2 bytes"; {0} in a translation is the first of them. A text without a translation is shown in English.
import messages from './de-messages.ts'
import rules from './de-rules.ts'

export default { ...rules, ...messages }
