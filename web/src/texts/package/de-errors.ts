// Everything that the package says, in German: its errors, too.
import editing from './de-editing.ts'
import engine from './de-engine.ts'
import media from './de-media.ts'
import model from './de-model.ts'
import page from './de-page.ts'
import template from './de-template.ts'
import files from './de.ts'

export default { ...files, ...template, ...media, ...model, ...engine, ...editing, ...page }
