// The names by which an address may call a panel. "#inside" is the mode of Run whose address is "#run/inside".

/** The ids of panels, some with a view or a mode, and their other names. */
export const panelNames: Readonly<Record<string, string>> = {
  overview: 'info summary about',
  metadata: 'keys key meta header kv',
  tensors: 'tensor weights lens values',
  graph: 'model architecture diagram network',
  'graph/flow': 'flow',
  'graph/bytes': 'bytes treemap sizes',
  'graph/layers': 'layers blocks',
  findings: 'finding lint check checks errors problems',
  edit: 'editor change changes',
  convert: 'quantize quantise quantization split merge',
  tokenizer: 'tokeniser tokenize tokens token vocabulary vocab',
  chat: 'template chattemplate',
  compare: 'comparison diff',
  memory: 'ram vram',
  run: 'engine prompt inference',
  'run/chat': 'messages conversation answermessages',
  'run/complete': 'complete completion completeatext generate',
  'run/compare': 'comparetexts similarity embed embedding embeddings',
  'run/search': 'search searchinfiles rerank',
  'run/inside': 'inside lookinside trace attention logitlens',
  'run/decide': 'decide decision classify',
  transcribe: 'transcription transcript whisper speechtotext asr',
  speak: 'voice voices tts texttospeech',
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
