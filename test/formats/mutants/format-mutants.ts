import type { Mutant } from '../../mutants/mutated-run.ts';

/** What is broken, the test that finds it, the file, its text, and what it becomes. */
const CHANGES: readonly (readonly [name: string, test: string, file: string, replace: string, by: string])[] = [
  [
    'PostgreSQL: two arguments change places',
    'fingerprints',
    'packages/postgres/src/calls/program.ts',
    'place, number, PLAIN, incrementTicks, threshold,',
    'place, number, PLAIN, threshold, incrementTicks,',
  ],
  [
    'PostgreSQL: another text of the function',
    'functions',
    'packages/postgres/sql/schema.sql',
    'width constant integer := 9;',
    'width constant integer := 10;',
  ],
  [
    'PostgreSQL: the comment has another fingerprint',
    'functions',
    'packages/postgres/sql/schema.sql',
    "comment on function sluice_run_v2 is 'Sluice, fingerprint ",
    "comment on function sluice_run_v2 is 'Sluice, fingerprint 0",
  ],
  [
    'PostgreSQL: a smaller column',
    'fingerprints',
    'packages/postgres/sql/schema.sql',
    'level bigint not null',
    'level integer not null',
  ],
  [
    'host: two fields change places',
    'fingerprints',
    'packages/host/src/wire/operation-codec.ts',
    'writer.number(entry.incrementTicks ?? 0);\n  writer.number(entry.fitTicks ?? 0);',
    'writer.number(entry.fitTicks ?? 0);\n  writer.number(entry.incrementTicks ?? 0);',
  ],
  [
    'host: two fields change places, and are read so',
    'golden/golden',
    'packages/host/src/wire/operation-codec.ts',
    'incrementTicks: frame.number(),\n    fitTicks: frame.number(),',
    'fitTicks: frame.number(),\n    incrementTicks: frame.number(),',
  ],
  [
    'host: another status of an answer',
    'fingerprints',
    'packages/host/src/wire/answer-codec.ts',
    'const HELD = 5;',
    'const HELD = 6;',
  ],
  [
    'host: the hello in another byte order',
    'fingerprints',
    'packages/host/src/wire/hello.ts',
    'writeUInt16LE(turn',
    'writeUInt16BE(turn',
  ],
  [
    'host: the version before is not spoken',
    'golden/golden',
    'packages/host/src/wire/hello.ts',
    'export const OLDEST_VERSION = 4;',
    'export const OLDEST_VERSION = 5;',
  ],
  [
    'host: lengths of parts in another byte order',
    'fingerprints',
    'packages/host/src/election/handover-file.ts',
    'length.writeUInt32LE(part.length, 0)',
    'length.writeUInt32BE(part.length, 0)',
  ],
  [
    'dump: two fields change places',
    'fingerprints',
    'packages/core/src/store/memory/dump-format.ts',
    'view.setInt32(next, low, true);\n    view.setInt32(next + 4, high, true);',
    'view.setInt32(next, high, true);\n    view.setInt32(next + 4, low, true);',
  ],
  [
    'dump: hashes of another function',
    'golden/golden',
    'packages/core/src/store/memory/dump-format.ts',
    'visit(view.getInt32(at, true), view.getInt32(at + 4, true),',
    'visit(view.getInt32(at, true), ~view.getInt32(at + 4, true),',
  ],
  [
    'slots: a renamed property',
    'fingerprints',
    'packages/core/src/store/memory/slot-bucket.ts',
    'to, leftTicks: end - now, expiryTicks })',
    'to, left: end - now, leftTicks: 0, expiryTicks })',
  ],
  [
    'Redis: another key of slots',
    'fingerprints',
    'packages/redis/src/batches/bucket-keys.ts',
    "calendar = bucket.slots && 'slots'",
    "calendar = bucket.slots && 'held'",
  ],
  [
    'Redis: another score of slots',
    'golden/redis.redis',
    'packages/redis/src/batches/decide-lua.ts',
    'local EXPIRIES = 4096',
    'local EXPIRIES = 8192',
  ],
  [
    'Redis: another origin of time',
    'golden/redis.redis',
    'packages/redis/src/batches/decide-lua.ts',
    'local EPOCH_SECONDS = 1767225600',
    'local EPOCH_SECONDS = 1735689600',
  ],
  ['a renamed event', 'golden/golden', 'api/core.api.md', '"store-failing"', '"store-failed"'],
  [
    'a renamed metric',
    'golden/golden',
    'packages/core/src/counts/instruments.ts',
    "name: 'sluice.decisions'",
    "name: 'sluice.decided'",
  ],
];

/** Changes of formats, each with the test in test/formats that finds it. */
export const formatMutants: readonly (Mutant & { readonly test: string })[] = CHANGES.map(
  ([name, test, file, replace, by]) => ({ name, test, in: file, replace, by }),
);
