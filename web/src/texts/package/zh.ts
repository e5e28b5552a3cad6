// What the package says, in Chinese. The English text is the key, and the package has it: {} stands there for a part that differs,
// {#byte} for "1 byte" or "2 bytes"; {0} in a translation is the first of them. A text without a translation is shown in English.
import messages from './zh-messages.ts'
import rules from './zh-rules.ts'

export default { ...rules, ...messages }
