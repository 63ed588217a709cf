// A few cells of `npm run trial -- faults`, which tries all of them.
import { redisStore } from '@sluice/redis';
import { describe, expect, it } from 'vitest';
import { runCell, type Cell } from './faults/cell.ts';
import { CLIENT_KINDS } from './faults/clients.ts';
import { FAULTS } from './faults/faults.ts';
import { figuresOf } from './faults/figures.ts';
import { brokenPromises } from './faults/promises.ts';

const CELLS: [fault: string, policy: Cell['policy'], library: string, options: string][] = [
  ['absent at boot', 'closed', 'ioredis 5', 'strict'],
  ['SIGSTOP', 'local', 'ioredis 6', 'defaults'],
  ['blackhole', 'open', 'ioredis 5', 'defaults'],
  ['cut between write and reply', 'local', 'ioredis 6', 'defaults'],
  ['out of memory', 'closed', 'ioredis 6', 'strict'],
  ['LOADING', 'local', 'ioredis 6', 'defaults'],
  ['wrong type of one key', 'closed', 'ioredis 6', 'defaults'],
  ['SIGSTOP', 'closed', 'node-redis 6', 'defaults'],
  ['cut between write and reply', 'local', 'node-redis 6', 'defaults'],
];

describe.each(CELLS)('%s, %s, %s with %s', (name, policy, library, options) => {
  it('breaks no promise: answers in time, nothing late, nothing twice, no hang, within its bound', async () => {
    const fault = FAULTS.find((one) => one.name === name)!;
    const client = CLIENT_KINDS.find((kind) => kind.library === library && kind.options === options)!;
    const cell = { fault, policy, client };
    const observed = await runCell(cell, (given) => redisStore({ client: given, log: false }));
    expect(brokenPromises(figuresOf(cell, observed))).toEqual([]);
  });
});
