import { FileSignatures, sourceOf } from '@sluice/config/kit';
import type { LimitSource } from '@sluice/config';
import type { FailureOptions, IdFormat, Log, Store, Time } from '@sluice/core';
import { checkOptions, systemTime, wholeNumber } from '@sluice/core/kit';
import type { ServiceEvent } from '../metrics/event.ts';
import type { SnapshotSources } from '../files/snapshot.ts';

/** The options of {@link openService}. */
export interface ServiceOptions {
  /** The file of limits, as `@sluice/config` reads it. Each limit needs an `idFormat`. */
  readonly limits: LimitSource;
  /** The file of tables: which limits apply to which requests. At most 256 KiB. */
  readonly tables: LimitSource;
  /** The file of overrides: other numbers for listed ids. Default: none. */
  readonly overrides?: LimitSource | undefined;
  /** Id formats that the files may name beside those of core, such as `domain().format`. */
  readonly formats?: readonly IdFormat[] | undefined;
  /** The largest size of the files of limits and of overrides in bytes. Default: 2 MiB. */
  readonly maxBytes?: number | undefined;
  /** The store of the buckets. Default: a memory store, for one process. It is closed with the service. */
  readonly store?: Store | undefined;
  /**
   * The proxies that may ask: CIDRs, addresses, and the names `loopback`, `private` and `unix`. The client is the last
   * address of their X-Forwarded-For that is not one of these. Default: `['loopback', 'unix']`.
   */
  readonly trustedProxies?: readonly string[] | undefined;
  /** The field in which proxies pass the address of the client. Default: `x-forwarded-for`. */
  readonly addressHeader?: string | undefined;
  /** What happens while the store can't answer. */
  readonly failure?: FailureOptions | undefined;
  /** How often to check the files for changes, in milliseconds, from 100 to 86,400,000; `false` for never. Default: 500. */
  readonly everyMs?: number | false | undefined;
  /** Called for each event. */
  readonly onEvent?: ((event: ServiceEvent) => void) | undefined;
  /** Receives log lines; `false` for none. Default: `console.warn`. */
  readonly log?: Log | false | undefined;
  /** The source of time, for tests. Default: that of the process. */
  readonly time?: Time | undefined;
}

const NAMES: readonly string[] = [
  'limits',
  'tables',
  'overrides',
  'formats',
  'maxBytes',
  'store',
  'trustedProxies',
  'addressHeader',
  'failure',
  'everyMs',
  'onEvent',
  'log',
  'time',
];

/** How often files are checked if nothing else is said. */
const EVERY_MS = 500;

/** Validates the options that the limiter does not validate. */
export function checkServiceOptions(options: ServiceOptions): {
  readonly sources: SnapshotSources;
  readonly everyMs: number | false;
} {
  checkOptions('openService', options, NAMES);
  const { limits, overrides, formats = [], maxBytes, time = systemTime, everyMs = EVERY_MS } = options;
  const tables = sourceOf('tables', options.tables);
  const paths = [limits, options.tables, overrides]
    .filter((source) => source !== undefined)
    .map((source) => sourceOf('file', source).from)
    .filter((from) => typeof from === 'string');
  const remedy = 'For example everyMs: 500, or everyMs: false to reload only when reload() is called.';
  return {
    sources: { limits, overrides, tables, formats, maxBytes, files: new FileSignatures(paths, time), time },
    everyMs: everyMs === false ? false : wholeNumber('everyMs', everyMs, { min: 100, max: 86_400_000, remedy }),
  };
}
