// Texts to begin with, in the languages that models speak. They are for the model, so they are not translated.

const words: Readonly<Record<string, readonly string[]>> = {
  // The list of words of the voice sample has all of these.
  en: [
    'Good morning. Ruby found a red hat in the garden.',
    'The train to the sea leaves at nine.',
    'Once upon a time, an owl lived in an old lighthouse.',
  ],
  de: ['Guten Morgen. Wie geht es Ihnen heute?', 'Der Zug ans Meer fährt um neun Uhr.'],
  es: ['Buenos días. ¿Cómo está usted hoy?', 'El tren al mar sale a las nueve.'],
  fr: ['Bonjour. Comment allez-vous aujourd’hui ?', 'Le train pour la mer part à neuf heures.'],
  it: ['Buongiorno. Come sta oggi?', 'Il treno per il mare parte alle nove.'],
  ja: ['おはようございます。お元気ですか。', '海へ行く電車は九時に出ます。'],
  ko: ['안녕하세요. 오늘 기분이 어떠세요?', '바다로 가는 기차는 아홉 시에 떠납니다.'],
  pt: ['Bom dia. Como está hoje?', 'O comboio para o mar parte às nove.'],
  ru: ['Доброе утро. Как вы сегодня?', 'Поезд к морю отходит в девять часов.'],
  zh: ['早上好，您今天好吗？', '开往海边的火车九点出发。'],
}

/** What a model may say first, in a language. */
export const firstWords = (code: string): readonly string[] => words[code] ?? words['en']!

/** The same for a model that reads phonemes. */
export const kFirstPhonemes = 'ðɪ ˈaʊl slˈiːps baɪ dˈeɪ.'
