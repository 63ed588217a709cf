import { assert } from '../assert.ts';
import type { Store, StoreReport } from '../../store/store.ts';
import { disturbingPromise, promise, type StoreCase, type StoreUnderTest } from '../store-case.ts';

interface Watched {
  readonly watch: NonNullable<Store['watch']>;
  readonly provokeReport: NonNullable<StoreUnderTest['provokeReport']>;
}

/** Cases for every store that has the method `watch`. */
export const watchCases: readonly StoreCase[] = [
  watchPromise('a listener gets reports of known types', async ({ watch, provokeReport }) => {
    const listener = listening(watch);
    await provokeReport();
    assert.ok(listener.reports.length > 0, 'the listener got no report, although one was provoked');
    for (const { type } of listener.reports) assert.match(type, /^(up|down|pressure)$/);
  }),

  watchPromise('a removed listener gets no more reports, and others still do', async ({ watch, provokeReport }) => {
    const removed = listening(watch);
    const other = listening(watch);
    removed.end();
    removed.end();
    const before = [removed.reports.length, other.reports.length];
    await provokeReport();
    assert.equal(removed.reports.length, before[0], 'the removed listener got a report');
    assert.ok(other.reports.length > before[1]!, 'the other listener got no report');
  }),

  watchPromise('a listener may remove itself in a report, and others still get it', async (subject) => {
    const { watch, provokeReport } = subject;
    const once = listening(watch, () => once.end());
    const other = listening(watch);
    const before = [once.reports.length, other.reports.length];
    await provokeReport();
    await provokeReport();
    assert.equal(once.reports.length, before[0]! + 1, 'a listener that removed itself must get one report');
    assert.ok(other.reports.length > before[1]! + 1, 'the other listener must get all reports');
  }),

  promise('after close watch, of a store that has it, is the error ERR_CLOSED', async ({ store }) => {
    if (store.watch === undefined) return;
    const listen = () => listening((listener) => store.watch!(listener));
    const { end } = listen();
    await store.close();
    end();
    assert.throws(listen, { name: 'SluiceError', code: 'ERR_CLOSED' });
  }),
];

function watchPromise(name: string, check: (watched: Watched) => Promise<void>): StoreCase {
  return disturbingPromise(`${name}, of a store that has watch`, async ({ store, provokeReport }) => {
    if (store.watch === undefined) return;
    assert.ok(
      provokeReport,
      'the store has the method `watch`: give `provokeReport`, so that the contract can test it',
    );
    await check({ watch: (listener) => store.watch!(listener), provokeReport });
  });
}

/** Registers a listener that keeps its reports. */
function listening(watch: Watched['watch'], onReport: () => void = () => {}) {
  const reports: StoreReport[] = [];
  let isRegistered = false;
  const end = watch((report) => {
    reports.push(report);
    // A report inside `watch` comes before the listener can remove itself.
    if (isRegistered) onReport();
  });
  isRegistered = true;
  return { reports, end };
}
