// What typescript-eslint checks in this project. Formatting is prettier's part, unused locals of Svelte files are svelte-check's.
import tseslint from 'typescript-eslint'

const unused = ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true }]

export default tseslint.config(
  { ignores: ['wasm/dist', 'web/dist', 'build', '**/*.d.ts'] },
  { linterOptions: { reportUnusedDisableDirectives: 'off' } },
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
      // The functions of a wasm module need no `this`.
      '@typescript-eslint/unbound-method': 'off',
      // Error messages show what was given, whatever it is.
      '@typescript-eslint/no-base-to-string': 'off',
      // Some methods are async because their interface is.
      '@typescript-eslint/require-await': 'off',
      // An abort's reason and an error of a worker pass through as they are.
      '@typescript-eslint/prefer-promise-reject-errors': [
        'error',
        { allowThrowingAny: true, allowThrowingUnknown: true },
      ],
      'max-lines': ['error', 500],
      'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
    },
  },
  {
    // Without types: the tests' types are checked by tsc, and types double the time.
    files: ['tests/**/*.ts'],
    extends: [tseslint.configs.recommended],
    rules: { '@typescript-eslint/no-unused-vars': unused },
  },
)
