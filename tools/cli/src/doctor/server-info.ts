import type { Redis } from 'ioredis';
import { messageOf } from '@sluice/core/kit';

/** What a server reports about itself by INFO. Other servers than Redis leave some fields out. */
export class ServerInfo {
  readonly #values: ReadonlyMap<string, string>;

  constructor(text: string) {
    this.#values = new Map(
      Array.from(text.matchAll(/^(\w+):(.*?)\r?$/gm), ([, name = '', value = '']) => [name, value]),
    );
  }

  text(name: string): string | undefined {
    return this.#values.get(name);
  }

  number(name: string): number | undefined {
    const text = this.text(name);
    return text === undefined || !/^\d+(?:\.\d+)?$/.test(text) ? undefined : Number(text);
  }

  /** Its name and version, such as `Valkey 8.1.1`; and the version of Redis that it behaves as. */
  get product(): { readonly name: string; readonly redisVersion: string } {
    const redisVersion = this.text('redis_version') ?? '';
    for (const name of ['Valkey', 'Redict', 'Dragonfly', 'KeyDB']) {
      const version = this.text(`${name.toLowerCase()}_version`)?.replace(/^\D+/, '');
      if (version !== undefined) return { name: `${name} ${version}`, redisVersion };
    }
    const isKeyDb = /keydb/i.test(this.text('executable') ?? '');
    return { name: `${isKeyDb ? 'KeyDB' : 'Redis'} ${redisVersion}`, redisVersion };
  }
}

/** Asks a server; returns the reason if it does not say. */
export async function infoOf(node: Redis): Promise<ServerInfo | string> {
  try {
    return new ServerInfo(await node.info());
  } catch (error) {
    return messageOf(error);
  }
}
