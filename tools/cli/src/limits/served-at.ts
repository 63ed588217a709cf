import { SluiceError, type BlockEntry, type BucketState } from '@sluice/core';
import { messageOf } from '@sluice/core/kit';
import type { BucketName, StoreBlock } from '@sluice/core/store';
import type { Call } from '../console/command.ts';
import { CommandError, UsageError } from '../console/failure.ts';
import { replyTo, type Sent } from '../console/reply.ts';
import { timeoutOf } from '../redis/options.ts';
import type { RateFacts } from './explanation.ts';
import type { CanonicalName } from './bucket-source.ts';
import type { Figures } from './figures.ts';

/** The environment variable with the token of operators. */
export const TOKEN_VARIABLE = 'SLUICE_OPERATOR_TOKEN';

/** The version of the newest calls of operators. Each call has the version in which it came. */
export const OPERATOR_VERSION = 2;

/** What a service is asked about a bucket. */
export interface BucketCall extends BucketName {
  readonly version: 1;
  /** `look` changes nothing. */
  readonly what: 'look' | 'charge' | 'refund' | 'reset';
  readonly cost: number;
}

/** Asks a service to add a record to its log. Without a record, whether it can. */
export interface RecordCall {
  readonly version: 1;
  readonly what: 'record';
  readonly record: string;
}

/** What a service is asked about blocks. `name` and `blocked` change nothing. */
export type BlockCall = { readonly version: 2 } & (
  | { readonly what: 'name' | 'unblock'; readonly entry: BucketName }
  | { readonly what: 'block'; readonly entry: BlockEntry }
  | { readonly what: 'blocked'; readonly entry: { readonly limit?: string | undefined } }
);

export type OperatorCall = BucketCall | RecordCall | BlockCall;

/** What a service answers, by the call. */
export interface OperatorAnswers {
  readonly look: { readonly figures: Figures; readonly rate?: RateFacts };
  readonly charge: { readonly states: readonly BucketState[] };
  readonly refund: OperatorAnswers['charge'];
  readonly reset: OperatorAnswers['charge'];
  readonly record: object;
  readonly name: CanonicalName;
  /** `isInMemory`: the block ends with the process of the service. */
  readonly block: { readonly blocks: readonly StoreBlock[]; readonly isInMemory: boolean };
  /** The block that there was. */
  readonly unblock: { readonly blocks: readonly StoreBlock[] };
  readonly blocked: OperatorAnswers['unblock'];
}

/** Fields of answers that are text. In others, the text `Infinity` is a number, as JSON has none. */
const TEXTS = new Set(['limit', 'id', 'override', 'endedOverride', 'blockedBy', 'message', 'reason', 'by']);

/** What to do if nobody answers. */
const START = 'Start it, or correct the address in `--store`';

/** A `sluice serve`, as an operator asks it. */
export class ServedAt {
  readonly #address: string;
  readonly #target: Omit<Sent, 'body'>;

  /**
   * @param address - Its address, without `serve:`.
   * @throws {UsageError} If it is not an address, or contains a token.
   */
  constructor(call: Call, address: string) {
    const token = call.console.terminal.env[TOKEN_VARIABLE];
    if (token !== undefined && !/^[!-~]+$/.test(token))
      throw new UsageError(`${TOKEN_VARIABLE} must have visible characters of ASCII alone, as that of the service.`);
    this.#address = address;
    const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
    this.#target = { ...targetOf(address), path: '/operator', headers, timeoutMs: timeoutOf(call) };
  }

  /**
   * Asks once. A call is never sent again: nobody knows whether the service has executed it.
   *
   * @throws {SluiceError} What the service answered, and `ERR_STORE_UNAVAILABLE` if it does not answer.
   * @throws {CommandError} If it does not answer operators, or demands another token.
   */
  async ask<T extends OperatorCall>(asked: T): Promise<OperatorAnswers[T['what']]> {
    const at = `The service at ${this.#address}`;
    const { status, text } = await replyTo({ ...this.#target, body: JSON.stringify(asked) }).catch((error: unknown) => {
      const remedy = /EACCES/.test(messageOf(error)) ? 'Run the command as its user' : START;
      throw unavailable(`${at} does not answer: ${messageOf(error)}. ${remedy}.`);
    });
    if (status === 401) {
      const hasToken = 'Authorization' in this.#target.headers!;
      const found = hasToken ? `has another token than ${TOKEN_VARIABLE}` : 'demands a token';
      throw new CommandError(`${at} ${found}. Set the environment variable ${TOKEN_VARIABLE} to that of the service.`);
    }
    const answer = status === 404 ? undefined : parsed(text);
    if (status === 200 && answer !== undefined) return answer as OperatorAnswers[T['what']];
    const { code, message } = (answer ?? {}) as { readonly code?: SluiceError['code']; readonly message?: string };
    if (message !== undefined) throw code === undefined ? new CommandError(message) : new SluiceError(code, message);
    if (status === 413) throw new UsageError('The words of the command are too long for a service. Shorten them.');
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
