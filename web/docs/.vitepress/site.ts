// Where the site, the samples that it serves, and the sources are published. The pages, their tests and the generators use these.

/** The viewer's address. The documentation is below docs/. */
export const kSite = 'https://ggufscope.github.io/ggufscope/'
export const kDocs = `${kSite}docs/`
/** The model in snippets: text, 2 million parameters, 1.5 MB. The site also serves speech.gguf, speech.wav and voice.gguf. */
export const kSampleAddress = `${kSite}sample.gguf`
export const kRepository = 'https://github.com/ggufscope/ggufscope'
