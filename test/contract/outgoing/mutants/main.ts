// `npm run trial -- mutants-outgoing` breaks the doors on purpose, one change at a time, and fails if no test notices one.
// `--only <text>` tries those whose names or files contain a text.
import { parseArgs } from 'node:util';
import { tryMutants } from '../../../mutants/try-mutants.ts';
import { outgoingMutants } from './outgoing-mutants.ts';

const own = (...names: string[]): readonly string[] => names.map((name) => `packages/outgoing/test/${name}.test.ts`);
const contract = (...names: string[]): readonly string[] =>
  names.map((name) => `test/contract/outgoing/${name}.test.ts`);
const LEARNING = own(
  ...['held-back', 'learning', 'several-limits', 'within', 'aborted', 'two-doors'].map((name) => `learning/${name}`),
);
const FIELDS = own(...['providers', 'rate-limit', 'retry-after'].map((name) => `fields/${name}`));
const FETCH = [
  ...own('retry-after', 'retries', 'requests', 'bad-input', 'platform-fetch'),
  ...contract('limited-fetch'),
];
const DISPATCH = contract('limited-dispatch');
const PROPERTY = ['test/property/learning.test.ts'];

/** The tests of a source, by the beginning of its path. The first that fits counts. */
const TESTS: readonly (readonly [source: string, files: readonly string[]])[] = [
  ['fields/', [...FIELDS, ...PROPERTY]],
  ['learning/', [...LEARNING, ...PROPERTY]],
  ['limited-processor', own('limited-processor')],
  ['limited-handler', [...own('dispatched'), ...DISPATCH]],
  ['limited-dispatch', [...own('bad-input', 'dispatched'), ...DISPATCH]],
  ['dispatch-controller', own('dispatched')],
  ['limited-calls', [...own('bad-input'), ...LEARNING, ...FETCH]],
  ['exchange', [...LEARNING, ...FETCH, ...DISPATCH]],
  ['', FETCH],
];

const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } });
const mutants = outgoingMutants.filter((each) => each.name.includes(values.only) || each.in.includes(values.only));
const filesOf = (mutant: { readonly in: string }): readonly string[] =>
  TESTS.find(([source]) => mutant.in.startsWith(`packages/outgoing/src/${source}`))![1];
await tryMutants({ mutants, filesOf, testTimeoutMs: 20_000 });
