// Saves new files, with progress and a cancel.
import { bytes, oneLine, percent } from '../language/format'
import {
  canChooseFolder,
  chooseFolder,
  chooseTarget,
  download,
  wayOf,
  writeTo,
  type Savable,
  type SaveOptions,
} from './save-file'
import { t } from '../language/text'

interface NamedFile {
  readonly name: string
  readonly file: Savable
}

export class Saver {
  status = $state('')
  failure = $state('')
  control = $state.raw<AbortController>()
  /** reads what was saved, if it is one file that is on the disk or in memory */
  saved = $state.raw<() => Promise<File>>()

  cancel() {
    this.control?.abort()
  }

  clear() {
    this.status = this.failure = ''
    this.saved = undefined
  }

  /**
   * Saves the files: into a folder if there are several and the browser lets the user choose one, otherwise one by one.
   * Must be called directly in a click handler. Returns whether all were saved.
   */
  async save(files: readonly NamedFile[], isLocal: boolean): Promise<boolean> {
    this.clear()
    try {
      const folder = files.length > 1 && canChooseFolder() ? await chooseFolder() : undefined
      if (files.length > 1 && canChooseFolder() && !folder) return false
      let target: FileSystemFileHandle | undefined
      if (!folder && files.some(({ file }) => wayOf(file, isLocal) === 'disk')) {
        target = await chooseTarget(files[0]!.name)
        if (!target) return false
      }
      const control = (this.control = new AbortController())
      for (const [at, { name, file }] of files.entries()) {
        const which = files.length > 1 ? t('file {at} of {all}, ', { at: at + 1, all: files.length }) : ''
        const options = { signal: control.signal, onProgress: this.show(which) }
        const handle = folder ? await folder.getFileHandle(name, { create: true }) : target
        const way = wayOf(file, isLocal)
        if (handle) await writeTo(handle, file, options)
        else if (way === 'stream' || way === 'download') await download(file, name, way, options)
      }
      const [one] = files
      if (target) this.saved = () => target.getFile()
      else if (one && files.length === 1 && wayOf(one.file, isLocal) === 'download')
        this.saved = async () =>
          new File(
            [await one.file.blob({ signal: new AbortController().signal, onProgress: () => {} })],
            one.name,
          )
      this.status = folder
        ? t('{n} file saved in {folder}.|{n} files saved in {folder}.', {
            n: files.length,
            folder: oneLine(folder.name, 80),
          })
        : target
          ? t('Saved as {name}.', { name: oneLine(target.name, 200) })
          : t('The browser saves it as a download.')
      return true
    } catch (error) {
      this.status = ''
      this.failure = this.control?.signal.aborted
        ? t('Saving was cancelled.')
        : error instanceof Error
          ? error.message
          : String(error)
      return false
    } finally {
      this.control = undefined
    }
  }

  private show(which: string): SaveOptions['onProgress'] {
    return ({ written, size, tensor }) => {
      const part = t('Saving: {which}{written} of {size} ({share})', {
        which,
        written: bytes(written),
        size: bytes(size),
        share: percent(written, size),
      })
      this.status = `${part}${tensor === undefined ? '' : `, ${oneLine(tensor, 60)}`}`
    }
  }
}
