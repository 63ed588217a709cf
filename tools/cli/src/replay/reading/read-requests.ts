import type { Console } from '../../console/console.ts';
import { ReadingCounts } from '../entries/entry-reader.ts';
import type { Routes } from '../entries/routes.ts';
import { Identities, type AddressRule, type IdentifiedLimit } from '../keys/identities.ts';
import type { Second } from '../order/second.ts';
import { SortWindow } from '../order/sort-window.ts';
import { MergedLogs, type KnownLog, type LogOutcome } from './merged-logs.ts';

/** What requests are read with. */
export interface RequestReading {
  readonly logs: readonly KnownLog[];
  readonly limits: readonly IdentifiedLimit[];
  readonly addresses: AddressRule;
  readonly routes: Routes;
  /** Whether the ends of requests are needed. */
  readonly needsEnds: boolean;
}

/** What was read. */
export interface RequestsRead {
  readonly counts: ReadingCounts;
  readonly window: SortWindow;
  readonly files: readonly LogOutcome[];
}

/**
 * Reads the requests of logs in the order of time, and passes on each second that has any.
 *
 * @throws {SluiceError} For trusted proxies that are not valid.
 */
export async function readRequests(
  { logs, limits, addresses, routes, needsEnds }: RequestReading,
  console: Console,
  emit: (second: Second) => void,
): Promise<RequestsRead> {
  const headers = logs.flatMap(({ detected }) => detected.format.headers);
  const [counts, identities] = [new ReadingCounts(), new Identities(limits, addresses, headers)];
  const window = new SortWindow((packed, start, end) => identities.identityOf(packed, start, end), emit);
  const merged = new MergedLogs(logs, { identities, routes, counts, window, console, needsEnds });
  await merged.read();
  return { counts, window, files: merged.outcomes };
}
