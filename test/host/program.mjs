// A process with a host store. It executes what its parent sends.
import { hostStore } from '@sluice/host';

const store = hostStore({
  socket: /** @type {string} */ (process.argv[2]),
  log: false,
  onEvent: (event) => process.send?.({ event }),
});

process.on('message', async (/** @type {{ id: number, call: string, args: unknown[] }} */ { id, call, args }) => {
  try {
    const result = await /** @type {any} */ (store)[call](...args);
    process.send?.({ id, result });
  } catch (error) {
    const { code, message } = /** @type {import('@sluice/core').SluiceError} */ (error);
    process.send?.({ id, error: { code, message } });
  }
});
process.on('disconnect', () => process.exit());
await store.ready();
process.send?.({ ready: true });
