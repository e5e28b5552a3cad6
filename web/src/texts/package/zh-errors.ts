// Everything that the package says, in Chinese: its errors, too.
import editing from './zh-editing.ts'
import engine from './zh-engine.ts'
import media from './zh-media.ts'
import model from './zh-model.ts'
import page from './zh-page.ts'
import template from './zh-template.ts'
import files from './zh.ts'

export default { ...files, ...template, ...media, ...model, ...engine, ...editing, ...page }
