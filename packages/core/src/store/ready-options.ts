import { checkOptions, wholeNumber } from '../checks/options.ts';

/** The options of {@link Limiter.ready} and of a store's `ready`. */
export interface ReadyOptions {
  /** How long to wait, in milliseconds, a whole number from 1 to 3,600,000 (an hour). Default: 10,000. */
  readonly timeoutMs?: number | undefined;
}

const DEFAULT_TIMEOUT_MS = 10_000;
const MAX_TIMEOUT_MS = 3_600_000;

/**
 * Validates the options of `ready()` and adds the defaults.
 *
 * @throws {SluiceError} `ERR_OPTION` for a value out of range, `ERR_UNKNOWN_OPTION` for an unknown name.
 */
export function checkReadyOptions(options: ReadyOptions = {}): { readonly timeoutMs: number } {
  checkOptions('ready', options, ['timeoutMs']);
  const { timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  const remedy = 'For example timeoutMs: 5000 for five seconds.';
  return { timeoutMs: wholeNumber('ready.timeoutMs', timeoutMs, { min: 1, max: MAX_TIMEOUT_MS, remedy }) };
}
