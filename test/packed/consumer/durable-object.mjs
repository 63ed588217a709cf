import { clientNetwork, createLimiter, memoryStore, SluiceError } from '@sluice/core';
import { dump, restore } from '@sluice/core/dump';
import { storeGuard } from '@sluice/core/store';
import { limitFetch } from '@sluice/fetch';
import { DurableObject, env } from 'cloudflare:workers';

/** How many objects share the work. With another number all buckets are full again. */
const SHARDS = 16;

/** One shard. It keeps the buckets of its ids in memory, decides their requests one by one, and saves them every second. */
export class Buckets extends DurableObject {
  // Saved, a bucket takes 16 bytes: this many fit into one value of the storage.
  #store = memoryStore({ maxKeys: 100_000 });
  #isSaving = false;

  constructor(state, bindings) {
    super(state, bindings);
    void state.blockConcurrencyWhile(async () => {
      const saved = await state.storage.get('buckets');
      try {
        if (saved !== undefined) restore(this.#store, saved);
      } catch {
        // Another version of Sluice has saved it: all buckets are full.
      }
    });
  }

  /** Takes an operation as text, because calls between Workers do not take instances of classes. */
  run(text) {
    if (!this.#isSaving) {
      this.#isSaving = true;
      // The answer does not wait for the storage.
      void this.ctx.storage.setAlarm(Date.now() + 1000, { allowUnconfirmed: true });
    }
    return this.#store.run(JSON.parse(text));
  }

  async alarm() {
    this.#isSaving = false;
    await this.ctx.storage.put('buckets', dump(this.#store));
  }
}

const store = {
  guard: storeGuard,
  traits: { slots: true },
  async run(operation) {
    return await env.BUCKETS.getByName(`shard-${shardOf(operation)}`).run(JSON.stringify(operation));
  },
  close() {},
};

export const limiter = createLimiter({
  limits: {
    Requests: { key: clientNetwork(), burst: 20, count: 5, period: '1s' },
    Daily: { key: clientNetwork(), burst: 1000, count: 5000, period: '24h' },
  },
  store,
  // An object may be on another continent.
  failure: { deadlineMs: 500, onFailure: 'local' },
});

const limit = limitFetch({
  limiter,
  limits: ['Requests', 'Daily'],
  address: (request) => request.headers.get('cf-connecting-ip'),
});

export default { fetch: limit(() => new Response('hello')) };

/** The shard of an operation. All its buckets are in one object, so that one call decides them together. */
function shardOf(operation) {
  const buckets = operation.batch ?? operation.alternatives.flat();
  const [id = '', ...others] = new Set(buckets.map((bucket) => bucket.id));
  if (others.length > 0) throw new SluiceError('ERR_OPTION', 'The limits of one request must have one id.');
  let hash = 0;
  for (let i = 0; i < id.length; i++) hash = (Math.imul(hash, 31) + id.charCodeAt(i)) >>> 0;
  return hash % SHARDS;
}
