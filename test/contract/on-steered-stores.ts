import { memoryStore, type Store } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import { hostStore } from '@sluice/host';
import { afterAll, describe, expect, test } from 'vitest';
import { HostProcess } from '../host/host-process.ts';
import { folder } from '../host/socket-path.ts';
import { patient } from '../patient.ts';

/** A store whose time moves only when the test moves it. */
interface Steered {
  readonly store: Store;
  readonly time: FakeTime;
  readonly advance: (ms: number) => void | Promise<void>;
}

/**
 * Runs cases on the memory store, and on a store of another process.
 *
 * @param what - `calls are scheduled`.
 */
export function onSteeredStores(
  what: string,
  cases: readonly { readonly name: string; readonly run: (steered: Steered) => Promise<void> }[],
): void {
  describe(`${what} on the memory store`, () => {
    test.each(cases)('$name', async ({ run }) => {
      const time = new FakeTime();
      await expect(
        run({ store: memoryStore({ time }), time, advance: (ms) => time.advance(ms) }),
      ).resolves.toBeUndefined();
    });
  });

  describe(`${what} on a store of another process`, () => {
    const paths = folder();
    const server = new HostProcess();
    afterAll(async () => {
      await server.kill();
      paths.delete();
    });

    test.each(cases)('$name', async ({ run }) => {
      const time = new FakeTime();
      const socket = paths.newSocket();
      await server.open(socket, { steered: true });
      const store = patient(hostStore({ socket, time, log: false }));
      await store.ready();
      const advance = async (ms: number): Promise<void> => {
        await server.advance(ms);
        time.advance(ms);
      };
      await expect(run({ store, time, advance })).resolves.toBeUndefined();
      await store.close();
    });
  });
}
