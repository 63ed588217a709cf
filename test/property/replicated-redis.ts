import type { Time } from '@sluice/core';
import { SteeredStore } from '../../packages/redis/test/support/steered-store.ts';
import type { RedisServer } from '../redis/servers/redis-server.ts';
import type { ReplicatedStore } from './replicated-store.ts';

/** Puts copies of all keys with one prefix in the place of those with another one. */
const REPLACE = `
for _, key in ipairs(redis.call('KEYS', ARGV[2] .. '*')) do
  redis.call('DEL', key)
end
for _, key in ipairs(redis.call('KEYS', ARGV[1] .. '*')) do
  redis.call('COPY', key, ARGV[2] .. string.sub(key, #ARGV[1] + 1))
end`;

/** The script of the Redis store on a real server, which has the data of the replica, too, under other keys. */
export class ReplicatedRedis extends SteeredStore implements ReplicatedStore {
  readonly #server: RedisServer;

  constructor(server: RedisServer, time: Time) {
    super(server, time);
    this.#server = server;
  }

  copy(): Promise<void> {
    return this.#replace(this.prefix, `replica:${this.prefix}`);
  }

  failOver(): Promise<void> {
    return this.#replace(`replica:${this.prefix}`, this.prefix);
  }

  /** Deletes all keys. */
  async drop(): Promise<void> {
    await this.#replace('nothing:', this.prefix);
    await this.copy();
  }

  async #replace(from: string, to: string): Promise<void> {
    await this.#server.call('EVAL', REPLACE, 0, from, to);
  }
}
