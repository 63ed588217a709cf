// What a real server with the clock of a test has stored, and the same of the model of Redis.
import { STEERED_ORIGIN_MICROS } from '../../packages/redis/test/support/steered-script.ts';
import type { RedisServer } from '../redis/servers/redis-server.ts';
import { differenceOf } from './difference.ts';
import type { ExactBucket } from './exact-sync.ts';
import type { RedisModel, Snapshot } from './redis-model.ts';

const TICKS_PER_MICRO = 16;

/** The raw value of a key, followed by its expiry. */
export type Raw = string | null;

interface Saved {
  readonly raws: readonly Raw[];
  readonly model: Snapshot;
}

interface StoredKeysParts {
  readonly server: RedisServer;
  readonly model: RedisModel;
  /** The clock, since 2026. */
  readonly clockMicros: () => number;
  readonly buckets: readonly string[];
  readonly streams: readonly string[];
}

/** The keys of some buckets and streams. A key's place is its index, the buckets first. */
export class StoredKeys {
  readonly #server: RedisServer;
  readonly #model: RedisModel;
  readonly #clockMicros: () => number;
  readonly #keys: readonly string[];
  readonly #buckets: readonly string[];
  readonly #streams: readonly string[];
  #raws: readonly Raw[] = [];
  #saved: Saved | undefined;

  constructor({ server, model, clockMicros, buckets, streams }: StoredKeysParts) {
    this.#server = server;
    this.#model = model;
    this.#clockMicros = clockMicros;
    this.#keys = [...buckets, ...streams];
    this.#buckets = buckets;
    this.#streams = streams;
  }

  /** Reads all keys. What the other methods return is as of then. */
  async read(): Promise<void> {
    this.#raws = await this.#server.call<Raw[]>('MGET', ...this.#keys);
  }

  /** When the keys expire, since 2026. */
  get expiriesMicros(): readonly number[] {
    return this.#raws.flatMap((raw) => (raw === null ? [] : expiryOf(raw) - STEERED_ORIGIN_MICROS));
  }

  bucket(key: string): ExactBucket | undefined {
    const digits = this.#valueOf(key);
    return digits === undefined ? undefined : { tat: BigInt(digits.slice(0, -3)), code: BigInt(digits.slice(-3)) };
  }

  /** The number of the last sync; negative if it found that data was lost. */
  sequence(stream: string): number {
    return Number(this.#valueOf(stream) ?? 0);
  }

  /** Removes what has expired, so that it stays so even if the clock is set back later. */
  async expire(): Promise<void> {
    const expired = [...this.#raws.keys()].filter((place) => {
      const raw = this.#raws[place]!;
      return raw !== null && !this.#isAlive(raw);
    });
    if (expired.length > 0) await this.delete(expired);
  }

  /** Deletes keys on the server and in the model. */
  async delete(places: readonly number[] = [...this.#keys.keys()]): Promise<void> {
    const keys = new Set(places.map((place) => this.#keys[place]!));
    await this.#server.call('DEL', ...keys);
    this.#raws = this.#raws.map((raw, i) => (keys.has(this.#keys[i]!) ? null : raw));
    const { buckets, streams } = this.#model.snapshot();
    this.#model.restore({
      buckets: new Map([...buckets].filter(([key]) => !keys.has(key))),
      streams: new Map([...streams].filter(([key]) => !keys.has(key))),
    });
  }

  save(): void {
    this.#saved = { raws: this.#raws, model: this.#model.snapshot() };
  }

  /** Puts back what was saved, if anything was. */
  async restore(): Promise<void> {
    if (this.#saved === undefined) return;
    const { raws, model } = this.#saved;
    await this.delete();
    const pairs = raws.flatMap((raw, i) => (raw === null ? [] : [this.#keys[i]!, raw]));
    if (pairs.length > 0) await this.#server.call('MSET', ...pairs);
    this.#model.restore(model);
  }

  /** How the server and the model differ, except for what has expired. */
  differenceToModel(): string | undefined {
    const ofServer = this.#raws.map((raw) => (this.#isAlive(raw) ? raw : undefined));
    const ofModel = [
      ...this.#buckets.map((key) => {
        const bucket = this.#model.bucket(key);
        return bucket && `${bucket.tatTicks}${codeText(bucket.writtenTicks)} ${expiryText(bucket)}`;
      }),
      ...this.#streams.map((key) => {
        const stream = this.#model.stream(key);
        return stream && `${stream.foundLoss ? -stream.sequence : stream.sequence} ${expiryText(stream)}`;
      }),
    ];
    return differenceOf('stored', ofServer, ofModel);
  }

  #valueOf(key: string): string | undefined {
    const raw = this.#raws[this.#keys.indexOf(key)] ?? null;
    return this.#isAlive(raw) ? raw!.split(' ')[0] : undefined;
  }

  #isAlive(raw: Raw): boolean {
    return raw !== null && STEERED_ORIGIN_MICROS + this.#clockMicros() < expiryOf(raw);
  }
}

function expiryOf(raw: string): number {
  return Number(raw.split(' ')[1]);
}

/** The three digits for a level of the form 2^e × (16 + f) / 16. */
function codeText(writtenTicks: number): string {
  const exponent = Math.floor(Math.log2(writtenTicks));
  return String(16 * exponent + 16 * (writtenTicks / 2 ** exponent - 1)).padStart(3, '0');
}

function expiryText({ expiryTicks }: { readonly expiryTicks: number }): string {
  return String(STEERED_ORIGIN_MICROS + expiryTicks / TICKS_PER_MICRO);
}
