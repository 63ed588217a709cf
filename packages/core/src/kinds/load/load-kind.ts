import { SluiceError } from '../../checks/errors.ts';
import { clientNetwork } from '../../keys/address-keys.ts';
import type { Key } from '../../keys/key.ts';
import { countingRate, type NumbersKind } from '../../rule/rate.ts';
import { NUMBERS_ALONE } from '../../limits/limit-parts.ts';
import type { Kind } from '../kind.ts';
import { FILE_HINTS, LOAD_ROWS, loadSettings, type LoadOptions } from './load-options.ts';
import type { LoadSource } from './load-source.ts';
import { LoadLimits } from './load-limits.ts';
import { checkedLoad } from './sources.ts';

/**
 * The options of a load limit: it denies a part of the requests while this process has too much to do, with the status
 * 503. It counts nothing and asks no store, and header fields never mention it.
 */
export interface Load {
  /**
   * How loaded this process is: `eventLoop()`, or a function that returns a number from 0 to 1, see `loadFrom`. As the
   * level of the load rises, requests with a small `share` are denied first.
   */
  readonly load: LoadSource | (() => number);
}

const OF_THIS_PROCESS: NumbersKind = { name: 'load', level: 'own', size: 'count' };
/** The key of a load limit that has none of its own. */
export const LOAD_KEY: Key = clientNetwork();
/** What all load limits have in place of numbers. */
const LOAD_RATE = countingRate(OF_THIS_PROCESS, 1);

/** Denies a part of the requests while this process has too much to do. It asks no store. */
export const LOAD: Kind<Load> = {
  ...OF_THIS_PROCESS,
  noun: 'a load limit',
  mark: 'load',
  example: 'load: eventLoop()',
  options: {
    load: {
      about: 'The load of each process: while it has too much to do, it denies a part of the requests.',
      value: { type: 'source', source: 'eventLoop', rows: LOAD_ROWS, hints: FILE_HINTS },
      check: (option, value) => loadSettings(option, value as LoadOptions),
    },
  },
  needed: ['load'],
  override: undefined,
  key: LOAD_KEY,
  define(options, { where }) {
    checkSettings(where, options);
    return { ...NUMBERS_ALONE, rate: LOAD_RATE, isStored: false, own: checkedLoad(`${where}.load`, options.load) };
  },
  describe: () => 'the load of this process',
  instead: {
    firstOf: 'Call `check` or `spend` with the load limit alone before.',
    charge: 'It counts nothing: leave it out.',
    settle: 'It counts nothing: leave it out.',
    refund: 'It counts nothing: leave the entry out.',
    reset: 'It counts nothing: leave the entry out. To stop shedding, use the option `enabled` of its load.',
  },
  part: (context) => new LoadLimits(context),
};

/** The settings of other limits that would have no effect, and why. */
const UNUSED = [
  ['onFailure', 'a load limit asks no store'],
  ['hidden', 'header fields never mention a load limit'],
] as const;

/** Rejects settings that only limits of other kinds have. */
function checkSettings(where: string, settings: object): void {
  for (const [name, why] of UNUSED) {
    if ((settings as Readonly<Record<string, unknown>>)[name] === undefined) continue;
    throw new SluiceError('ERR_LIMIT', `must be left out beside \`load\`: ${why}.`, { path: `${where}.${name}` });
  }
}
