// Generates the page of lint rules from web/docs/reference/lint-rules.json, the rules of the core, and
// lint-rules-of-package.json, those of the package: sets of files, chat templates, data. Each rule has a heading with its
// code as anchor.

/** By code, what a finding means and what to do. Rules may be grouped by subject. */
interface Rule {
  readonly meaning: string
  readonly cure: string
  readonly level?: string
  readonly subject?: string
}

const kHead = `# Lint rules

\`file.lint()\`, \`ggufscope lint\` and the viewer's panel Findings list the problems of a file. \`file.lintTemplates()\` checks
its chat templates, \`file.lintKeys()\` finds mistyped keys, and \`file.lintData()\` checks the data of all tensors.
\`lintLoad(file)\` of \`ggufscope/engine\` finds what \`load()\` refuses; the command and the MCP tool do so, too, if there is no other error.
A finding has the code of its rule, a level and a message, and the byte offset of its place, if it has one: a missing key has none.
One fault is one finding, which says how many tensors it concerns.

| level | |
| --- | --- |
| \`error\` | A strict loader refuses the file. |
| \`spec\` | The specification does not allow it. |
| \`note\` | It looks wrong or unusual. |
`

const text = (value: string) => value.replaceAll('<', '&lt;').replaceAll('{{', '&#123;&#123;')

function section([code, { level, meaning, cure }]: [string, Rule]): string {
  return `### ${code} {#${code}}\n\n${level ? `\`${level}\` ` : ''}${text(meaning)} ${text(cure)}\n`
}

export function lintRulesPage(files: readonly string[]): string {
  const rules = files.flatMap((json) => Object.entries(JSON.parse(json) as Record<string, Rule>))
  const subjects = new Set(rules.map(([, { subject }]) => subject ?? 'rules'))
  const parts = [...subjects].flatMap((subject) => [
    `## ${subject.charAt(0).toUpperCase()}${subject.slice(1)}\n`,
    ...rules.filter(([, rule]) => (rule.subject ?? 'rules') === subject).map(section),
  ])
  return [kHead, ...parts].join('\n')
}
