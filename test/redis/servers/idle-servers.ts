import type { RedisServer } from './redis-server.ts';
import { until } from './until.ts';

const MOST = 4;

/**
 * Servers that their tests have left as they were made, for later tests: to start one takes more processor time than most
 * tests that use it.
 */
export class IdleServers {
  /** In the order in which they became idle. */
  readonly #all: { readonly key: string; readonly server: RedisServer }[] = [];

  /** Returns a server with these arguments, without data and clients; undefined if there is none. */
  async take(args: readonly string[]): Promise<RedisServer | undefined> {
    const index = this.#all.findLastIndex(({ key }) => key === keyOf(args));
    const [found] = index === -1 ? [] : this.#all.splice(index, 1);
    if (found === undefined) return undefined;
    if (await isEmptied(found.server)) return found.server.anew();
    await found.server.kill();
    return this.take(args);
  }

  /** Keeps one for another test if it can be used again, and ends it otherwise. */
  async leave(args: readonly string[], server: RedisServer): Promise<void> {
    if (!server.isUnaltered) return server.kill();
    server.unref();
    this.#all.push({ key: keyOf(args), server });
    if (this.#all.length > MOST) await this.#all.shift()!.server.kill();
  }
}

function keyOf(args: readonly string[]): string {
  return JSON.stringify(args);
}

/** Empties a server. Returns `false` if clients of an earlier test stay connected, or the server rejects the commands. */
async function isEmptied(server: RedisServer): Promise<boolean> {
  try {
    // A server learns a little later that a client has closed its connection.
    const isAlone = async (): Promise<boolean> => (await server.clients()) === 1;
    await until('its clients are gone', isAlone, { withinMs: 200, everyMs: 2 });
    await server.empty();
    return true;
  } catch {
    return false;
  }
}
