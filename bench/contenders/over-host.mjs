import { accountId, createLimiter } from '@sluice/core';
import { hostStore } from '@sluice/host';

const RATE = { burst: 1_000_000, count: 1, period: 60_000 };

/**
 * Decides in another process of this host, which serves on a socket.
 *
 * @type {Readonly<Record<string, (socket: string) => Promise<((id: string) => Promise<unknown>) & { verify?: () => void }>>>}
 */
export const overHost = { Sluice: sluice };

/** @param {string} socket */
async function sluice(socket) {
  const store = hostStore({ socket, log: false });
  await store.ready();
  // With the default of 50 ms the fallback would decide while the machine is busy with something else.
  const failure = { deadlineMs: 5000 };
  const limiter = createLimiter({ limits: { First: { key: accountId(), ...RATE } }, store, failure });
  const verify = () => {
    const { decidedByPolicy, lastFailure } = limiter.status();
    if (decidedByPolicy > 0) throw new Error('The other process did not decide.', { cause: lastFailure?.cause });
  };
  const decide = (/** @type {string} */ id) => limiter.spend([{ limit: 'First', id }]);
  return Object.assign(decide, { verify });
}
