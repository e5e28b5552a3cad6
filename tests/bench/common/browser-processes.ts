// Figures of a browser's processes, read from /proc.
import { readFileSync } from 'node:fs'
import type { Browser } from '@playwright/test'

/** The sum of a number over the browser's processes. A process that has just ended counts as 0. */
export async function ofProcesses(browser: Browser, read: (folder: string) => number): Promise<number> {
  const session = await browser.newBrowserCDPSession()
  const { processInfo } = await session.send('SystemInfo.getProcessInfo')
  await session.detach()
  return processInfo.reduce((sum, { id }) => {
    try {
      return sum + read(`/proc/${id}`)
    } catch {
      return sum
    }
  }, 0)
}

/** The processor time of a process so far, in ticks. */
export function ticksOf(folder: string): number {
  const after = readFileSync(`${folder}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return Number(after[11]) + Number(after[12])
}
