// The typescript-eslint rules of this project. Prettier checks formatting. svelte-check checks Svelte files: the values in
// their templates are `any` to ESLint's parser, so most of what the typed rules report there is wrong.
import tseslint from 'typescript-eslint'

const unused = ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true }]

// Safari 17 cannot iterate streams, and its bodies have no bytes(). TypeScript's DOM library has both.
const kHaveNoBytes = ['Blob', 'File', 'Request', 'Response']
const safari = {
  rules: {
    'no-newer-streams': {
      create(context) {
        const { getTypeAtLocation } = context.sourceCode.parserServices
        const isA = (node, names) => {
          const type = getTypeAtLocation(node)
          return (type.types ?? [type]).some(({ symbol }) => names.includes(symbol?.name))
        }
        return {
          'ForOfStatement[await=true]'({ right: node }) {
            if (isA(node, ['ReadableStream']))
              context.report({ node, message: 'Safari 17 cannot iterate a stream: read it by its reader.' })
          },
          'CallExpression > MemberExpression[property.name="bytes"]'(node) {
            if (isA(node.object, kHaveNoBytes))
              context.report({ node, message: 'Safari 17 has no bytes(): use arrayBuffer().' })
          },
        }
      },
    },
  },
}

export default tseslint.config(
  { ignores: ['wasm/dist', 'web/dist', 'build', '**/*.d.ts'] },
  { linterOptions: { reportUnusedDisableDirectives: 'off' } },
  {
    files: ['wasm/src/**/*.ts', 'web/src/**/*.ts'],
    plugins: { safari },
    rules: { 'safari/no-newer-streams': 'error' },
  },
  {
    files: ['wasm/src/**/*.ts', 'web/src/**/*.ts', 'scripts/**/*.ts'],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: {
      parserOptions: {
        project: ['wasm/tsconfig.json', 'web/tsconfig.json', 'tests/tsconfig.json'],
        tsconfigRootDir: new URL('..', import.meta.url).pathname,
      },
    },
    rules: {
      '@typescript-eslint/no-unused-vars': unused,
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      // Functions of a wasm module do not need `this`.
      '@typescript-eslint/unbound-method': 'off',
      // Error messages may contain a value of any type.
      '@typescript-eslint/no-base-to-string': 'off',
      // Some methods are async because their interface requires it.
      '@typescript-eslint/require-await': 'off',
      // An abort's reason and a worker's error are thrown unchanged.
      '@typescript-eslint/prefer-promise-reject-errors': [
        'error',
        { allowThrowingAny: true, allowThrowingUnknown: true },
      ],
      'max-lines': ['error', 500],
      'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
    },
  },
  {
    // Without type information, because tsc checks the tests' types, and type information would double the time.
    files: ['tests/**/*.ts'],
    extends: [tseslint.configs.recommended],
    rules: { '@typescript-eslint/no-unused-vars': unused },
  },
)
