import { Redis } from 'ioredis';

const SCRIPTS: ReadonlySet<string> = new Set(['eval', 'evalsha', 'fcall']);

/** Counts the scripts that run on a Redis, by the prefix of what they decide: the text up to the first colon, and that. */
export class ScriptCounts {
  readonly #client: Redis;
  readonly #counts = new Map<string, number>();

  constructor(url: string) {
    this.#client = new Redis(url);
  }

  /** Counts from now on. */
  async begin(): Promise<this> {
    const monitor = await this.#client.monitor();
    monitor.on('monitor', (_atSeconds: string, [command = '', , , key = '']: readonly string[]) => {
      if (!SCRIPTS.has(command.toLowerCase())) return;
      const prefix = key.slice(0, key.indexOf(':') + 1);
      this.#counts.set(prefix, this.of(prefix) + 1);
    });
    return this;
  }

  of(prefix: string): number {
    return this.#counts.get(prefix) ?? 0;
  }
}
