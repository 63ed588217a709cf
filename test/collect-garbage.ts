import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Collects garbage until a condition is true, at most so many times. */
export async function collectGarbage(isDone: () => boolean, most = 20): Promise<void> {
  for (let i = 0; i < most && !isDone(); i++) {
    // oxlint-disable-next-line no-await-in-loop -- finalizers run, and references that were read are let go, between two turns
    await new Promise((resolve) => setImmediate(resolve));
    collect();
  }
}
