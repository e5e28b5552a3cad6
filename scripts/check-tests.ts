// Checks that tests wait for a state instead of a time: no pause outside of a loop that looks for the state, and no clock in an
// assertion. A pause that is what is tested has a comment on the line before it, which begins with "A pause". Prints file:line.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

const root = join(import.meta.dirname, '..')
let faults = 0

const calls = (node: ts.Node, name: RegExp, source: ts.SourceFile): node is ts.CallExpression =>
  ts.isCallExpression(node) && name.test(node.expression.getText(source))

/** The names under which a file imports the timers that return promises. */
function timersOf(source: ts.SourceFile): Set<string> {
  const names = new Set<string>()
  for (const statement of source.statements) {
    if (!ts.isImportDeclaration(statement)) continue
    if (!/^.node:timers\/promises.$/.test(statement.moduleSpecifier.getText(source))) continue
    const bindings = statement.importClause?.namedBindings
    if (!bindings || !ts.isNamedImports(bindings)) continue
    for (const { name, propertyName } of bindings.elements)
      if ((propertyName ?? name).text === 'setTimeout') names.add(name.text)
  }
  return names
}

/** new Promise((done) => setTimeout(done, 100)) */
function isTimerPromise(node: ts.Node, source: ts.SourceFile): boolean {
  if (!ts.isNewExpression(node) || node.expression.getText(source) !== 'Promise') return false
  const made = node.arguments?.[0]
  return (
    made !== undefined &&
    ts.isArrowFunction(made) &&
    calls(made.body, /^(globalThis\.|window\.)?setTimeout$/, source) &&
    made.body.arguments[0]!.getText(source) === made.parameters[0]?.name.getText(source) &&
    made.body.arguments.length > 1
  )
}

function isInLoop(node: ts.Node): boolean {
  for (let at = node.parent; at && !ts.isFunctionLike(at); at = at.parent)
    if (ts.isIterationStatement(at, false)) return true
  return false
}

function check(path: string): void {
  const source = ts.createSourceFile(
    path,
    readFileSync(join(root, path), 'utf8'),
    ts.ScriptTarget.Latest,
    true,
  )
  const timers = timersOf(source)
  const lines = source.text.split('\n')
  const report = (node: ts.Node, what: string) => {
    const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line
    if (/^\s*\/\/ A pause\b/.test(lines[line - 1] ?? '')) return
    console.error(`${path}:${line + 1}: ${what}`)
    faults++
  }
  const visit = (node: ts.Node): void => {
    const isPause =
      (ts.isCallExpression(node) && timers.has(node.expression.getText(source))) ||
      calls(node, /\.waitForTimeout$/, source) ||
      isTimerPromise(node, source)
    if (isPause && !isInLoop(node)) report(node, 'a pause; wait for a state')
    if (calls(node, /^(assert|expect)(\.|$)/, source))
      if (node.arguments.some((one) => /\b(performance|Date)\.now\(/.test(one.getText(source))))
        report(node, 'an assertion about time, which other work on the machine changes')
    ts.forEachChild(node, visit)
  }
  visit(source)
}

for (const path of globSync(
  ['tests/package/**/*.ts', 'tests/web/**/*.ts', 'tests/fixtures/**/*.ts', 'tests/browsers/**/*.ts'],
  {
    cwd: root,
  },
))
  check(path)
process.exitCode = faults > 0 ? 1 : 0
