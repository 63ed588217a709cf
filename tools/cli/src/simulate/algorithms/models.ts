import type { Algorithm, Numbers } from './algorithm.ts';
import { FixedWindow } from './fixed-window.ts';
import { LeakyBucketMeter } from './leaky-bucket-meter.ts';
import { LeakyBucketQueue } from './leaky-bucket-queue.ts';
import { SlidingWindowCounter } from './sliding-window-counter.ts';

/** What the limiter is compared with. */
export interface Model {
  readonly label: string;
  create(numbers: Numbers): Algorithm;
}

/** The models by their names on the command line. */
export const MODELS: ReadonlyMap<string, readonly Model[]> = new Map([
  ['fixed', [{ label: 'fixed window', create: (numbers) => new FixedWindow(numbers) }]],
  ['sliding', [{ label: 'sliding-window counter', create: (numbers) => new SlidingWindowCounter(numbers) }]],
  [
    'leaky',
    [
      { label: 'leaky bucket as a queue', create: (numbers) => new LeakyBucketQueue(numbers) },
      { label: 'leaky bucket as a meter', create: (numbers) => new LeakyBucketMeter(numbers) },
    ],
  ],
]);
