// The order of the pages in the navigation. Pages that do not exist are left out, for example generated ones before a build.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DefaultTheme } from 'vitepress'

const docs = join(import.meta.dirname, '..')
const { version } = JSON.parse(readFileSync(join(docs, '../../package.json'), 'utf8')) as { version: string }

type Page = [text: string, link: string]
// Groups cannot be collapsed: the theme would nest a button in a button, which is invalid HTML.
const group = (text: string, pages: Page[]): DefaultTheme.SidebarItem => ({
  text,
  items: pages
    .filter(([, link]) => existsSync(join(docs, link.endsWith('/') ? `${link}index.md` : `${link}.md`)))
    .map(([text, link]) => ({ text, link })),
})

export const sidebar: DefaultTheme.SidebarItem[] = [
  group('Start', [
    ['Quick start', '/quick-start'],
    ['Recipes', '/recipes'],
    ['Examples', '/examples'],
    ['Questions and answers', '/faq'],
  ]),
  group('Look inside', [
    ['Preview a remote file', '/guides/preview'],
    ['Find models on a hub', '/guides/hub'],
    ['Inspect tensors', '/guides/tensors'],
    ['Count tokens', '/guides/tokens'],
    ['Chat templates', '/guides/chat-templates'],
    ['Memory', '/guides/memory'],
  ]),
  group('Run models', [
    ['Run and chat', '/guides/run'],
    ['JSON answers', '/guides/json'],
    ['Tools and reasoning', '/guides/tools'],
    ['Embeddings and rerankers', '/guides/embeddings'],
    ['Search in texts', '/guides/search'],
    ['Decisions', '/guides/decisions'],
    ['Transcribing speech', '/guides/transcribe'],
    ['Speak', '/guides/speak'],
    ['Images and audio', '/guides/images'],
    ['Long contexts', '/guides/long-contexts'],
    ['Adapters', '/guides/adapters'],
    ['Look inside a model', '/guides/look-inside'],
    ['Share a model between tabs', '/guides/share'],
  ]),
  group('Connect', [
    ["OpenAI's API", '/guides/openai'],
    ['Server', '/guides/server'],
    ['AI SDK', '/guides/ai-sdk'],
    ['MCP server', '/guides/mcp'],
  ]),
  group('Change files', [
    ['Edit a file', '/guides/edit'],
    ['Quantize', '/guides/quantize'],
    ['Split files', '/guides/split-files'],
    ['Audit before publishing', '/guides/audit'],
    ['Other containers and models', '/guides/other-models'],
  ]),
  group('Set up', [
    ['Bundlers and runtimes', '/guides/bundlers'],
    ['Threads and isolation', '/guides/threads'],
    ['Graphics cards', '/guides/gpu'],
    ['Cache', '/guides/cache'],
  ]),
  group('Viewer and command line', [
    ['The viewer', '/guides/viewer'],
    ['Embed the viewer', '/guides/embed'],
    ['The viewer and other tools', '/guides/viewer-compared'],
    ['The command line', '/guides/command-line'],
  ]),
  group('Migration', [
    ['From @huggingface/gguf', '/guides/from-huggingface-gguf'],
    ['From wllama', '/guides/from-wllama'],
  ]),
  group('Reference', [
    ['API', '/reference/api/'],
    ['Commands', '/reference/commands'],
    ['Sampler options', '/reference/sampling'],
    ['The format', '/reference/format'],
    ['Lint rules', '/reference/lint-rules'],
    ['Errors and solutions', '/reference/errors'],
    ['Browsers and runtimes', '/reference/runtimes'],
    ['Architectures', '/reference/architectures'],
    ['Differences from llama.cpp', '/reference/llama-cpp-differences'],
  ]),
  group('Inside', [
    ['Architecture', '/architecture'],
    ['Three walks', '/walks'],
    ['How it is measured', '/performance/'],
    ['Preview figures', '/performance/preview'],
    ['Engine figures', '/performance/engine'],
    ['Figures of speech and images', '/performance/media'],
    ['Kernel figures', '/performance/kernels'],
    ['Tokenizer and tensor figures', '/performance/data'],
  ]),
  group('Project', [
    ['Contributing', '/contributing'],
    ['Changes', '/changelog'],
  ]),
]

export const nav: DefaultTheme.NavItem[] = [
  { text: 'Guides', link: '/quick-start', activeMatch: '^/(quick-start|recipes|examples|faq|guides/)' },
  { text: 'Reference', link: '/reference/api/', activeMatch: '^/reference/' },
  { text: 'Performance', link: '/performance/', activeMatch: '^/performance/' },
  { text: `v${version}`, link: '/changelog' },
  // The viewer is another application on the same origin.
  { text: 'Viewer', link: '/../', target: '_self', rel: '' },
]
