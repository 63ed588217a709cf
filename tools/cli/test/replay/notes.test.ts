import { describe, expect, it } from 'vitest';
import { notesOn } from '../../src/replay/counting/notes.ts';
import { ReadingCounts } from '../../src/replay/entries/entry-reader.ts';
import { ClientTable } from '../../src/replay/keys/client-table.ts';

/** The notes on a log of 1000 requests with everything, apart from what is given. */
function notes(given: {
  counts?: object;
  late?: number;
  wasFull?: boolean;
  withoutId?: number;
  evicted?: number;
  slots?: object;
}): string {
  const { withoutId = 0, evicted = 0 } = given;
  const slots = given.slots && { endedEarly: 0, ofProcess: [], ...given.slots };
  const usual = { requests: 1000, withArrival: 1000, withStatus: 1000, withTarget: 1000, withEnd: 1000 };
  const counts = Object.assign(new ReadingCounts(), usual, given.counts);
  const { late = 0, wasFull = false } = given;
  const rule = {
    from: 'field',
    field: 'header:x-api-key',
    format: { name: 'text', canonical: String },
    text: '',
  } as const;
  const clients = new ClientTable(10, 1);
  clients.requests[clients.placeOf('203.0.113.7').row] = 1;
  const limit = { name: 'Orders', rule, clients, withoutId, invalidIds: 0, invalidExample: undefined };
  return notesOn({
    counts,
    late,
    window: { wasFull },
    logs: [],
    identified: [limit],
    evicted,
    slots,
    rejected: undefined,
    hasBounds: false,
  })
    .slice(0, -2)
    .join('\n');
}

describe('the notes of a replay', () => {
  it('are those of every log if nothing is missing', () => {
    expect(notes({})).toBe('');
  });

  it.each([
    [{ counts: { withArrival: 500 } }, 'The times are those of the end of each request.'],
    [{ counts: { withStatus: 400 } }, 'Most lines have no status'],
    [{ counts: { withTarget: 500 } }, 'Most lines have no method and path'],
    [{ counts: { movedArrivals: 3 } }, '3 requests took longer than 58 s: they are decided 58 s before their end.'],
    [{ counts: { tooLongDurations: 2 } }, '2 requests have a duration above a day, which is taken as unknown.'],
    [{ withoutId: 101 }, '10 % of the requests have no header:x-api-key: Orders does not apply to them.'],
    [{ withoutId: 1000 }, '100 % of the requests have no header:x-api-key'],
    [{ late: 7 }, '7 requests are more than 60 s older than a line before them.'],
    [{ wasFull: true }, 'There were more requests in 60 s'],
    [{ slots: { endedEarly: 3 } }, '3 released theirs before their end, and denials may be missing'],
    [{ slots: { ofProcess: ['InFlight'] } }, 'Each process counts InFlight by itself'],
    [{ slots: {}, counts: { withEnd: 400 } }, '600 requests have no duration'],
    [{ evicted: 12 }, 'The store was full: 12 buckets were evicted, and denials may be missing.'],
  ])('report what limits the figures: %o', (given, text) => {
    expect(notes(given)).toContain(text);
  });
});
