// A second file: tensors of the open file are compared with its tensors.
import { open, type GgufFile, type Source } from 'ggufscope'
import { absolute, nameOf } from './address'

class OtherFile {
  file = $state.raw<GgufFile>()
  label = $state('')
  failure = $state('')
  opening = $state(false)

  private control: AbortController | undefined

  openAddress(address: string) {
    try {
      void this.start(absolute(address), nameOf(address))
    } catch (error) {
      this.failure = error instanceof Error ? error.message : String(error)
    }
  }

  openFiles(files: readonly File[]) {
    if (files[0]) void this.start(files, files[0].name)
  }

  close() {
    this.control?.abort()
    this.control = undefined
    this.file?.close()
    this.file = undefined
    this.opening = false
    this.failure = ''
  }

  private async start(source: Source | readonly Source[], label: string) {
    this.close()
    const control = (this.control = new AbortController())
    this.opening = true
    this.label = label
    try {
      const file = await open(source, { preview: 'auto', signal: control.signal })
      if (this.control === control) this.file = file
      else file.close()
    } catch (error) {
      if (this.control === control) this.failure = error instanceof Error ? error.message : String(error)
    } finally {
      if (this.control === control) this.opening = false
    }
  }
}

export const other = new OtherFile()
