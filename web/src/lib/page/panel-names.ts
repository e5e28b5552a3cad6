// The names by which an address may call a panel. "#inside" is the mode of Run whose address is "#run/inside".

/** The ids of panels, some with a view or a mode, and their other names. */
export const panelNames: Readonly<Record<string, string>> = {
  overview: 'info summary',
  metadata: 'keys header',
  tensors: 'tensor weights',
  graph: 'architecture',
  'graph/flow': 'flow',
  'graph/bytes': 'bytes treemap',
  'graph/layers': 'layers',
  findings: 'lint checks errors',
  edit: 'changes',
  convert: 'quantize split merge',
  tokenizer: 'tokens vocabulary',
  template: 'chattemplate',
  compare: 'diff',
  memory: 'ram',
  run: 'prompt',
  'run/chat': 'chat messages',
  'run/complete': 'complete completion',
  'run/compare': 'similarity embeddings',
  'run/search': 'search',
  'run/inside': 'inside lookinside attention',
  'run/decide': 'decide',
  transcribe: 'whisper',
  speak: 'voice tts',
}

const places = new Map(
  Object.entries(panelNames).flatMap(([place, others]) =>
    [place, ...others.split(' ')].map((name) => [name, place]),
  ),
)

/** "Look-inside" and "look inside" are the same name. */
const placeOf = (name: string) => places.get(name.toLowerCase().replace(/[\s_-]/g, ''))

/** The panel of a name and the item that the name stands for. An unknown name is that of no panel. */
export function panelNamed(
  name: string,
  item: string | undefined,
): [panel: string, item: string | undefined] {
  const [panel = '', view] = (placeOf(name) ?? name).split('/')
  const other = item === undefined ? undefined : placeOf(item)
  return [panel, other?.startsWith(`${panel}/`) ? other.slice(panel.length + 1) : (item ?? view)]
}
