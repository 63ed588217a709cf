// A process with one store, which executes what its parent asks for. A copy of it runs with the packages of an earlier version.

const openers = {
  /** @param {{ url: string, prefix: string }} options */
  async redis({ url, prefix }) {
    const { redisStore } = await import('@sluice/redis');
    // A denial that one process remembers is right, and not what a bucket has after the other has changed it.
    return redisStore({ url, prefix, rememberDenialsMs: 0, log: false });
  },
  /** @param {{ url: string, table: string }} options */
  async postgres({ url, table }) {
    const { postgresStore } = await import('@sluice/postgres');
    return postgresStore({ connectionString: url, table });
  },
  /** @param {{ socket: string }} options */
  async host({ socket }) {
    const { hostStore } = await import('@sluice/host');
    return hostStore({ socket, log: false });
  },
};

const DEADLINE_MS = 20_000;

/** @type {any} */
let store;

const commands = {
  /** @param {{ kind: 'redis' | 'postgres' | 'host' }} options */
  async open({ kind, ...options }) {
    store = await openers[kind](/** @type {any} */ (options));
    await store.ready();
  },
  /** @param {unknown[]} operations */
  run: (operations) => Promise.all(operations.map((operation) => store.run(operation, DEADLINE_MS))),
  status: () => store.status(),
  close: () => store.close(),
};

process.on('message', async (/** @type {{ id: number, command: string, args: unknown[] }} */ { id, command, args }) => {
  try {
    const result = await /** @type {any} */ (commands)[command](...args);
    process.send?.({ id, result });
  } catch (error) {
    process.send?.({ id, error: String(/** @type {Error} */ (error).stack) });
  }
});
process.on('disconnect', () => process.exit());
