// The editor of a snippet: CodeMirror with undo, brackets and colours. Loaded by a click on Edit.
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { javascript } from '@codemirror/lang-javascript'
import { bracketMatching, indentOnInput, syntaxHighlighting } from '@codemirror/language'
import { EditorState } from '@codemirror/state'
import { drawSelection, EditorView, keymap } from '@codemirror/view'
import { classHighlighter } from '@lezer/highlight'

export interface Editor {
  text(): string
  focus(): void
  destroy(): void
}

/** onRun: what Control+Enter does. The Tab key leaves the editor, as in any form. */
export function createEditor(parent: HTMLElement, text: string, onRun: () => void): Editor {
  const run = () => {
    onRun()
    return true
  }
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: text,
      extensions: [
        history(),
        drawSelection(),
        indentOnInput(),
        bracketMatching(),
        javascript({ typescript: true }),
        syntaxHighlighting(classHighlighter),
        keymap.of([{ key: 'Mod-Enter', run }, ...defaultKeymap, ...historyKeymap]),
        EditorView.contentAttributes.of({ 'aria-label': 'Snippet', spellcheck: 'false' }),
      ],
    }),
  })
  return {
    text: () => view.state.doc.toString(),
    focus: () => view.focus(),
    destroy: () => view.destroy(),
  }
}
