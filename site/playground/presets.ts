import { FIRST_CASE, type Case } from './case.ts';

const every = (stepMs: number, count: number): Case['arrivals'] =>
  Array.from({ length: count }, (_, i) => ({ atMs: i * stepMs, cost: 1 }));

/** Cases that show one thing each. */
export const PRESETS: readonly (readonly [label: string, shown: Case])[] = [
  ['Edge of a window', FIRST_CASE],
  [
    'A queue',
    {
      limits: [{ burst: '1', count: '2', period: '1s', maxWait: '2s' }],
      cost: '1',
      arrivals: [...every(0, 6), ...[2500, 2600].map((atMs) => ({ atMs, cost: 1 }))],
    },
  ],
  [
    'Two limits',
    {
      limits: [
        { burst: '4', count: '4', period: '1s', maxWait: '' },
        { burst: '10', count: '20', period: '1m', maxWait: '' },
      ],
      cost: '1',
      arrivals: every(150, 24),
    },
  ],
  [
    'Costs',
    {
      limits: [{ burst: '20', count: '10', period: '1s', maxWait: '' }],
      cost: '5',
      arrivals: [0, 100, 200, 300, 900, 1500].map((atMs, i) => ({ atMs, cost: i === 3 ? 1 : 5 })),
    },
  ],
];
