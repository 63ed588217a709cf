import { shownText } from '@sluice/core/kit';
import { createHash } from 'node:crypto';
import type { Call } from '../console/command.ts';
import { recordLogOf } from '../redis/record-log.ts';

/** A change by a command, as `--audit` and `--log` write it. */
export interface AuditRecord {
  readonly type: 'sluice-audit';
  readonly version: 1;
  /** In ISO 8601. */
  readonly time: string;
  readonly by: string;
  /** The command: `reset`. */
  readonly what: string;
  readonly limit: string;
  readonly id: string;
  /** How many tokens were left; null if that is not a number, or not known. */
  readonly before: number | null;
  readonly after: number | null;
  /** Of a block: its end, in ISO 8601; left out when there was none. */
  readonly until?: string;
  /** It may have been made although no answer came. */
  readonly outcome: 'done' | 'not done' | 'unknown';
  readonly reason: string | null;
}

/** Returns a hash in place of an id. A list of ids reveals which one it is. */
export function hashedId(id: string): string {
  return `sha256:${createHash('sha256').update(id).digest('hex').slice(0, 32)}`;
}

/** What a log contains. */
export interface Read {
  readonly records: readonly AuditRecord[];
  /** Entries that are not records of this version. */
  readonly others: number;
}

/**
 * Reads the log in Redis.
 *
 * @param sinceMs - How long ago the oldest record may be; undefined for all.
 * @throws {CommandError} If it can't be read.
 */
export async function readRecords(call: Call, sinceMs: number | undefined): Promise<Read> {
  const log = recordLogOf(call);
  const records: AuditRecord[] = [];
  let others = 0;
  try {
    for await (const texts of log.read(sinceMs)) {
      for (const text of texts) {
        const record = recordIn(text);
        if (record === undefined) others++;
        else if (call.has('hashIds')) records.push({ ...record, id: hashed(record.id) });
        else records.push(record);
      }
    }
  } finally {
    log.close();
  }
  return { records, others };
}

function hashed(id: string): string {
  return /^sha256:[0-9a-f]{32}$/.test(id) ? id : hashedId(id);
}

const TEXTS = ['time', 'by', 'what', 'limit', 'id', 'outcome'] as const;

/** Returns a record; undefined for other text. Whoever can write to Redis can write anything there. */
export function recordIn(text: string): AuditRecord | undefined {
  try {
    const record = JSON.parse(text) as Partial<AuditRecord> | null;
    const isOurs = record?.type === 'sluice-audit' && record.version === 1;
    return isOurs && TEXTS.every((name) => typeof record[name] === 'string') ? (record as AuditRecord) : undefined;
  } catch {
    return undefined;
  }
}

const MAX_LINE_LENGTH = 2000;

/** `2026-11-30T06:40:00.000Z mia: charge Orders 12345678, 300 → 293: ticket 7`. */
export function recordLine({ time, by, what, limit, id, before, after, until, outcome, reason }: AuditRecord): string {
  const tokens = before === null || after === null ? '' : `, ${before} → ${after}`;
  const changed = typeof until === 'string' ? `, until ${until}` : tokens;
  const ended = outcome === 'done' ? '' : `, ${outcome === 'not done' ? 'not done' : 'not known whether done'}`;
  const why = reason === null ? '' : `: ${reason}`;
  return shownText(`${time} ${by}: ${what} ${limit} ${id}${changed}${ended}${why}`, MAX_LINE_LENGTH);
}
