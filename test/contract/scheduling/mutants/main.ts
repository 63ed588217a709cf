// `npm run trial -- mutants-scheduler` breaks the scheduler on purpose, one change at a time, and fails if no test notices one.
// `--only <text>` tries those whose names contain a text.
import { parseArgs } from 'node:util';
import { tryMutants } from '../../../mutants/try-mutants.ts';
import { schedulerMutants } from './scheduler-mutants.ts';

const FILES = [
  ...['scheduler', 'forgotten-keys', 'later-store', 'metrics', 'left-behind'].map(
    (name) => `packages/core/test/scheduler/${name}.test.ts`,
  ),
  'test/property/scheduled-order.test.ts',
];

const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } });
const mutants = schedulerMutants.filter(({ name }) => name.includes(values.only));
await tryMutants({ mutants, filesOf: () => FILES, testTimeoutMs: 20_000 });
