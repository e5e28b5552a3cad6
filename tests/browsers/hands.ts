// What a person does in the viewer. These functions are evaluated in the page, so each uses only `hands` and the page's globals.

/** What a person does, by the page's elements. Lives in the page. */
export interface Hands {
  until<T>(find: () => T | null | undefined | false, what: string): Promise<T>
  panel(): HTMLElement
  /** Opens a panel, and an item of its list. */
  go(panel: string, item?: string): Promise<void>
  type(selector: string, text: string): Promise<void>
  press(name: string): Promise<void>
  text(pattern: RegExp): Promise<string>
  /** number of clicks and entries so far */
  steps: number
  /** the files that the page gave to the browser to save */
  saved: Blob[]
}
declare const hands: Hands

export function giveHands(): void {
  const saved: Blob[] = []
  const create = URL.createObjectURL
  URL.createObjectURL = (blob: Blob) => {
    saved.push(blob)
    return create(blob)
  }
  HTMLAnchorElement.prototype.click = () => {}
  const until: Hands['until'] = async (find, what) => {
    for (let tries = 0; tries < 1200; tries++) {
      const found = find()
      if (found) return found
      await new Promise((done) => setTimeout(done, 50))
    }
    throw new Error(`${what} did not appear: ${document.body.innerText.slice(0, 600)}`)
  }
  const title = (): ParentNode => document.querySelector('h1')?.parentElement ?? document
  const panel = (): HTMLElement => document.querySelector('[role=tabpanel]:not([hidden])') ?? document.body
  /** Counts a step. On a phone, details that cover the element are closed first, which is another step. */
  const reach = (element: HTMLElement): void => {
    given.steps++
    element.scrollIntoView({ block: 'center' })
    const { left, top, width, height } = element.getBoundingClientRect()
    const front = document.elementFromPoint(left + width / 2, top + height / 2)
    if (
      !front ||
      element.contains(front) ||
      front.contains(element) ||
      front.closest('label')?.contains(element)
    )
      return
    const back = [...panel().querySelectorAll('button')].find((one) => one.innerText === 'Back to the list')
    if (!back?.checkVisibility()) return
    given.steps++
    back.click()
  }
  const given: Hands = {
    steps: 0,
    saved,
    until,
    panel,
    async go(name, item) {
      const tab = await until(() => document.getElementById(`tab-${name}`), name)
      reach(tab)
      tab.click()
      if (item === undefined) return
      const rows = (): HTMLElement[] => [...panel().querySelectorAll<HTMLElement>('[role=row]')]
      const isIt = (row: HTMLElement): boolean =>
        row.querySelector('[role=rowheader]')?.textContent?.trim() === item
      const row = await until(() => rows().find(isIt), item)
      reach(row)
      row.click()
    },
    async type(selector, text) {
      const field = await until(() => panel().querySelector<HTMLInputElement>(selector), selector)
      reach(field)
      field.value = text
      field.dispatchEvent(new Event('input', { bubbles: true }))
    },
    async press(name) {
      const textOf = (element: HTMLElement): string => element.innerText.trim()
      const all = (place: ParentNode): HTMLElement[] => [
        ...place.querySelectorAll<HTMLElement>('button, summary, label'),
      ]
      const find = (place: ParentNode): HTMLElement | undefined => {
        const found = all(place).filter((one) => textOf(one).startsWith(name) && !one.matches(':disabled'))
        return found.find((one) => textOf(one) === name) ?? found[0]
      }
      const button = await until(() => find(panel()) ?? find(title()), name)
      reach(button)
      button.click()
    },
    text: (pattern) => until(() => pattern.exec(panel().innerText)?.[0], String(pattern)),
  }
  Object.assign(globalThis, { hands: given })
}

/** Chooses the projector, drops a picture of the page's own on the panel, and sends a message. */
export async function askAboutImage() {
  const choose = async (label: string, file: File) => {
    const find = () => document.querySelector<HTMLInputElement>(`input[aria-label="${label}"]`)
    const input = await hands.until(find, label)
    const transfer = new DataTransfer()
    transfer.items.add(file)
    hands.steps++
    input.files = transfer.files
    input.dispatchEvent(new Event('change', { bubbles: true }))
  }
  const bytes = await (await fetch('/vectors/qwen2vl/mmproj.gguf')).blob()
  if (innerWidth < 720) await hands.press('Options')
  await hands.press('Images and audio')
  await choose('Projector', new File([bytes], 'mmproj.gguf'))
  await hands.text(/messages may have images/)
  const canvas = document.createElement('canvas')
  canvas.getContext('2d')!.fillRect(10, 10, 50, 50)
  const picture = await new Promise<Blob | null>((done) => canvas.toBlob(done, 'image/png'))
  const dataTransfer = new DataTransfer()
  dataTransfer.items.add(new File([picture!], 'a.png', { type: 'image/png' }))
  hands.steps++
  for (const type of ['dragenter', 'dragover', 'drop'])
    hands.panel().dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }))
  await hands.until(() => hands.panel().querySelector('img'), 'the picture')
  await hands.press('Send')
  await hands.text(/\d tokens?, .*ms\./)
  return { images: hands.panel().querySelectorAll('article img').length, finished: true }
}

/**
 * Records with a microphone that repeats a sound. The page makes its stream, because only Chromium has a setting for a
 * file in place of a microphone. Returns what was heard.
 */
export async function recordSpeech(sound: string) {
  const context = new AudioContext()
  const bytes = await (await fetch(sound)).arrayBuffer()
  const source = new AudioBufferSourceNode(context, {
    buffer: await context.decodeAudioData(bytes),
    loop: true,
  })
  const speaker = context.createMediaStreamDestination()
  source.connect(speaker)
  navigator.mediaDevices.getUserMedia = async () => {
    await context.resume()
    source.start()
    return speaker.stream
  }
  await hands.press('Record')
  const heard = await hands.text(/owl carried the lamp\./i)
  const recording = /Stop recording \(\d+:\d\d/.test(hands.panel().innerText)
  await hands.press('Stop recording')
  const find = () => hands.panel().querySelector('[aria-label="Position in the recording"]')
  await hands.until(find, 'the recording')
  await context.close()
  return { heard, recording }
}

/** Firefox needs a device, such as a PulseAudio server of its own with a null sink, for the Web Audio API to run. */
export async function playsSound(): Promise<boolean> {
  const context = new AudioContext()
  // A pause, because nothing tells that there is no device.
  await Promise.race([context.resume(), new Promise((done) => setTimeout(done, 5000))])
  const running = context.state === 'running'
  await context.close()
  return running
}
