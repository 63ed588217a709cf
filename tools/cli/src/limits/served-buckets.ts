import { SluiceError, type BucketState, type CostEntry } from '@sluice/core';
import { messageOf } from '@sluice/core/kit';
import type { Call } from '../console/command.ts';
import { CommandError, UsageError } from '../console/failure.ts';
import { replyTo, type Sent } from '../console/reply.ts';
import { timeoutOf } from '../redis/options.ts';
import type { RecordLog } from '../redis/record-log.ts';
import type { BucketSource } from './bucket-source.ts';
import type { RateFacts } from './explanation.ts';
import type { Figures } from './figures.ts';

/** The environment variable with the token of operators. */
export const TOKEN_VARIABLE = 'SLUICE_OPERATOR_TOKEN';

/** The version of the calls of operators. */
export const OPERATOR_VERSION = 1;

/** What a service is asked about a bucket. */
export interface BucketCall {
  readonly version: typeof OPERATOR_VERSION;
  /** `look` changes nothing. */
  readonly what: 'look' | 'charge' | 'refund' | 'reset';
  readonly limit: string;
  /** As it was written. */
  readonly id: string;
  readonly cost: number;
}

/** Asks a service to add a record to its log. Without a record, whether it can. */
export interface RecordCall {
  readonly version: typeof OPERATOR_VERSION;
  readonly what: 'record';
  readonly record: string;
}

/** What a service answers to `look`, and to a change. */
interface Looked {
  readonly figures: Figures;
  readonly rate?: RateFacts;
}
interface Changed {
  readonly states: readonly BucketState[];
}

/** Fields of answers that are text. In others, the text `Infinity` is a number, as JSON has none. */
const TEXTS = new Set(['limit', 'id', 'override', 'message', 'reason', 'by']);

/**
 * Returns the buckets of a `sluice serve`, which decides by its own files and store.
 *
 * @param address - Its address, without `serve:`.
 * @throws {UsageError} If it is not an address, or contains a token.
 */
export function servedBuckets(call: Call, address: string): BucketSource {
  const service = new ServedAt(call, address);
  const ask = <T>(what: BucketCall['what'], limit: string, id: string, cost = 1): Promise<T> =>
    service.ask({ version: OPERATOR_VERSION, what, limit, id, cost }) as Promise<T>;
  const change =
    (what: 'charge' | 'refund') =>
    async ([entry]: readonly CostEntry[]): Promise<readonly BucketState[]> =>
      (await ask<Changed>(what, entry!.limit, entry!.id ?? '', entry!.cost)).states;
  return {
    figures: async ({ limit, id }, cost) => (await ask<Looked>('look', limit, id, cost)).figures,
    rate: async ({ limit, id }) => (await ask<Looked>('look', limit, id)).rate,
    limiter: {
      charge: change('charge'),
      refund: change('refund'),
      reset: async ([entry]) => void (await ask('reset', entry!.limit, entry!.id)),
    },
    check: () => {},
  };
}

/** Returns the log of a `sluice serve` on Redis. */
export function servedLog(call: Call, address: string): Pick<RecordLog, 'check' | 'add' | 'close'> {
  const service = new ServedAt(call, address);
  const add = async (record: string): Promise<void> =>
    void (await service.ask({ version: OPERATOR_VERSION, what: 'record', record }));
  return { check: () => add(''), add, close: () => {} };
}

/** A service, as an operator asks it. */
class ServedAt {
  readonly #address: string;
  readonly #target: Omit<Sent, 'body'>;
  readonly #hasToken: boolean;

  constructor(call: Call, address: string) {
    const token = call.console.terminal.env[TOKEN_VARIABLE];
    if (token !== undefined && !/^[!-~]+$/.test(token))
      throw new UsageError(`${TOKEN_VARIABLE} must have visible characters of ASCII alone, as that of the service.`);
    this.#address = address;
    this.#hasToken = token !== undefined;
    const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
    this.#target = { ...targetOf(address), path: '/operator', headers, timeoutMs: timeoutOf(call) };
  }

  /**
   * Asks once. A call is never sent again: nobody knows whether the service has executed it.
   *
   * @throws {SluiceError} What the service answered, and `ERR_STORE_UNAVAILABLE` if it does not answer.
   * @throws {CommandError} If it does not answer operators, or demands another token.
   */
  async ask(asked: BucketCall | RecordCall): Promise<unknown> {
    const at = `The service at ${this.#address}`;
    const { status, text } = await replyTo({ ...this.#target, body: JSON.stringify(asked) }).catch((error: unknown) => {
      throw unavailable(`${at} does not answer: ${messageOf(error)}. Start it, or correct the address in \`--store\`.`);
    });
    if (status === 401) {
      const found = this.#hasToken ? `has another token than ${TOKEN_VARIABLE}` : 'demands a token';
      throw new CommandError(`${at} ${found}. Set the environment variable ${TOKEN_VARIABLE} to that of the service.`);
    }
    const answer = status === 404 ? undefined : parsed(text);
    if (status === 200 && answer !== undefined) return answer;
    const { code, message } = (answer ?? {}) as { readonly code?: SluiceError['code']; readonly message?: string };
    if (message !== undefined) throw code === undefined ? new CommandError(message) : new SluiceError(code, message);
    if (status >= 500) throw unavailable(`${at} failed (${status}). Its log may say why.`);
    throw new CommandError(
      `Nothing at ${this.#address} answers operators (${status}). Start sluice serve with --operate, and name the address of its --metrics in \`--store\`.`,
    );
  }
}

function unavailable(message: string): SluiceError {
  return new SluiceError('ERR_STORE_UNAVAILABLE', message);
}

function targetOf(address: string): Pick<Sent, 'socketPath' | 'protocol' | 'host' | 'port'> {
  if (address.startsWith('unix:/')) return { socketPath: address.slice('unix:'.length) };
  const url = /^https?:\/\/./.test(address) && URL.canParse(address) ? new URL(address) : undefined;
  if (url !== undefined && (url.username !== '' || url.password !== '' || url.search !== '')) {
    throw new UsageError(
      `A token must not be in \`--store\`, because all users of this machine can read the arguments of commands. Put it into the environment variable ${TOKEN_VARIABLE}.`,
    );
  }
  if (url === undefined || url.pathname !== '/' || url.hash !== '') {
    throw new UsageError(
      '`--store serve:` must have the address of the `--metrics` of a sluice serve. For example --store serve:http://127.0.0.1:9102 or --store serve:unix:/run/sluice/metrics.sock.',
    );
  }
  return { protocol: url.protocol, host: url.hostname.replace(/^\[(.*)\]$/, '$1'), port: url.port };
}

function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text, (name, each: unknown) =>
      each === 'Infinity' && !TEXTS.has(name) ? Infinity : each,
    );
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
