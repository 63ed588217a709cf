import { describe, expect, test, vi } from 'vitest';
import { SluiceError } from '../../src/checks/errors.ts';
import type { Store, StoreReading, StoreReport, StoreOperation } from '../../src/store/store.ts';
import { FakeTime, storeContract } from '../../src/testing/index.ts';
import { MapStore } from './map-store.ts';

test.each<[what: string, store: Pick<Store, 'guard' | 'traits'>]>([
  ['no guard', { guard: undefined }],
  ['the trait answersAtOnce, and answers by promises', { traits: { answersAtOnce: true } }],
])('the contract finds a store with %s', async (_, store) => {
  const cases = storeContract({
    clock: 'real',
    create: () => ({ store: Object.assign(new MapStore(new FakeTime()), store), advance: () => {} }),
  });
  await expect(cases.find(({ name }) => name.includes('has `guard`'))!.run()).rejects.toThrow(/guard|by a promise/);
});

describe('the contract tests the trait keepsDeadline', () => {
  /** A store on a server that can stop answering. */
  class KeepsDeadline extends MapStore {
    override readonly traits = { keepsDeadline: true } as const;
    isHanging = false;

    override run(operation: StoreOperation, deadlineMs = 0): Promise<StoreReading> {
      return this.isHanging ? this.miss(deadlineMs) : super.run(operation);
    }

    miss(_deadlineMs: number): Promise<never> {
      return Promise.reject(new SluiceError('ERR_STORE_DEADLINE', 'No answer in time.'));
    }
  }
  function deadlineCase(Store: typeof KeepsDeadline, canHang = true) {
    const cases = storeContract({
      clock: 'real',
      create: () => {
        const store = new Store(new FakeTime());
        const hang = async (run: () => Promise<void>) => ((store.isHanging = true), run());
        return canHang ? { store, advance: () => {}, hang } : { store, advance: () => {} };
      },
    });
    return cases.find(({ name }) => name.includes('keeps the deadline'))!.run();
  }

  test('and accepts a store that rejects when nothing answers', async () => {
    await expect(deadlineCase(KeepsDeadline)).resolves.toBeUndefined();
  });

  test('and finds a store that rejects with another error', async () => {
    class Wrong extends KeepsDeadline {
      override miss(): Promise<never> {
        return Promise.reject(new SluiceError('ERR_STORE_UNAVAILABLE', 'Gone.'));
      }
    }
    await expect(deadlineCase(Wrong)).rejects.toThrow('ERR_STORE_UNAVAILABLE');
  });

  test('and finds a store that waits', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    class Waits extends KeepsDeadline {
      override miss(): Promise<never> {
        return new Promise(() => {});
      }
    }
    const error = deadlineCase(Waits).catch((thrown: unknown) => thrown);
    await vi.advanceTimersByTimeAsync(2000);
    vi.useRealTimers();
    expect(String(await error)).toContain('did not settle within 2000 ms');
  });

  test('and demands a way to make the store hang', async () => {
    await expect(deadlineCase(KeepsDeadline, false)).rejects.toThrow('give `hang`');
  });
});

describe('the contract tests the method watch', () => {
  /** A store whose reports a test makes. */
  class Reports extends MapStore {
    listeners: ((report: StoreReport) => void)[] = [];

    watch(listener: (report: StoreReport) => void): () => void {
      this.demandOpen();
      this.listeners = [...this.listeners, listener];
      return () => void (this.listeners = this.listeners.filter((other) => other !== listener));
    }

    report(): void {
      for (const listener of this.listeners) listener({ type: 'up' });
    }
  }

  async function brokenWatches(Watched: typeof Reports, canReport = true): Promise<string[]> {
    const cases = storeContract({
      clock: 'real',
      create() {
        const store = new Watched(new FakeTime());
        return { store, advance: () => {}, ...(canReport && { provokeReport: () => store.report() }) };
      },
    }).filter(({ name }) => name.includes('watch'));
    const outcomes = await Promise.allSettled(cases.map(({ run }) => run()));
    return outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [String(outcome.reason)] : []));
  }

  test('and accepts a store that reports to its listeners, also inside watch', async () => {
    expect(await brokenWatches(Reports)).toEqual([]);
    class AtOnce extends Reports {
      override watch(listener: (report: StoreReport) => void): () => void {
        const end = super.watch(listener);
        listener({ type: 'down', cause: new Error('gone') });
        return end;
      }
    }
    expect(await brokenWatches(AtOnce)).toEqual([]);
  });

  test.each<{ mistake: string; Broken: typeof Reports; message: string }>([
    {
      mistake: 'reports nothing',
      Broken: class extends Reports {
        override report(): void {}
      },
      message: 'got no report',
    },
    {
      mistake: 'reports something unknown',
      Broken: class extends Reports {
        override report(): void {
          for (const listener of this.listeners) listener({ type: 'gone' } as unknown as StoreReport);
        }
      },
      message: 'did not match',
    },
    {
      mistake: 'removes no listener',
      Broken: class extends Reports {
        override watch(listener: (report: StoreReport) => void): () => void {
          super.watch(listener);
          return () => {};
        }
      },
      message: 'the removed listener got a report',
    },
    {
      mistake: 'removes all listeners',
      Broken: class extends Reports {
        override watch(listener: (report: StoreReport) => void): () => void {
          super.watch(listener);
          return () => void (this.listeners = []);
        }
      },
      message: 'the other listener got no report',
    },
    {
      mistake: 'removes another listener when it is called again',
      Broken: class extends Reports {
        override watch(listener: (report: StoreReport) => void): () => void {
          super.watch(listener);
          return () => void this.listeners.shift();
        }
      },
      message: 'the other listener got no report',
    },
    {
      mistake: 'skips a listener when another one removes itself',
      Broken: class extends Reports {
        override watch(listener: (report: StoreReport) => void): () => void {
          super.watch(listener);
          return () => {
            const index = this.listeners.indexOf(listener);
            if (index >= 0) this.listeners.splice(index, 1);
          };
        }
      },
      message: 'the other listener must get all reports',
    },
    {
      mistake: 'can be watched after close',
      Broken: class extends Reports {
        override demandOpen(): void {}
      },
      message: 'Missing expected exception',
    },
  ])('and finds a store that $mistake', async ({ Broken, message }) => {
    expect((await brokenWatches(Broken)).join('\n')).toContain(message);
  });

  test('and demands a way to provoke a report', async () => {
    expect((await brokenWatches(Reports, false)).join('\n')).toContain('give `provokeReport`');
  });
});
