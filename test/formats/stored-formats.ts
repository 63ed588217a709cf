import { storeBlocks, type StoreOperation } from '@sluice/core/store';
import { FakeTime } from '@sluice/core/testing';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SlotBuckets } from '../../packages/core/src/store/memory/slot-buckets.ts';
import { writeDump } from '../../packages/core/src/store/memory/dump-format.ts';
import { slotDumpsOf } from '../../packages/core/src/store/memory/slots-dump.ts';
import { BlocksFiles } from '../../packages/host/src/election/blocks-files.ts';
import { HandoverFile } from '../../packages/host/src/election/handover-file.ts';
import { encodeError, encodeExpired, encodeReading } from '../../packages/host/src/wire/answer-codec.ts';
import { FrameWriter } from '../../packages/host/src/wire/frame-writer.ts';
import { encodeHello, OLDEST_VERSION, PROTOCOL_VERSION } from '../../packages/host/src/wire/hello.ts';
import { encodeOperation } from '../../packages/host/src/wire/operation-codec.ts';
import { keyOf } from '../../packages/postgres/src/calls/bucket-keys.ts';
import { Program } from '../../packages/postgres/src/calls/program.ts';
import type { StoreCall } from '../../packages/postgres/src/calls/store-call.ts';
import { namesOf } from '../../packages/postgres/src/schema/table-name.ts';
import { BucketKeys } from '../../packages/redis/src/batches/bucket-keys.ts';
import { textOf } from './changed-text.ts';
import { LOOK, SENT } from './golden/buckets.mjs';

/** What outlives a process: its version, and a sample of what this tree writes. */
export interface StoredFormat {
  readonly name: string;
  readonly version: number;
  readonly sample: string;
}

const OPERATIONS = SENT as readonly StoreOperation[];
const HOLDERS = { kind: 'holders', batch: [{ limit: 'Slots', id: 'a', slots: true }] } as const;
const HELLO = { version: PROTOCOL_VERSION, pid: 1, hostMicros: 2.5, id: '0123456789ab', turn: 3 };

/** All formats whose bytes can be written without a server. */
export async function storedFormats(): Promise<readonly StoredFormat[]> {
  return [
    { name: 'protocol of the host store', version: PROTOCOL_VERSION, sample: hostMessages() },
    { name: 'hand-over file of the host store', version: OLDEST_VERSION, sample: await handoverFile() },
    memoryDump(),
    slotsDump(),
    { name: 'arguments of the function in PostgreSQL', version: versionIn(namesOf('sluice').run), sample: program() },
    tables(),
    { name: 'keys in Redis', version: 1, sample: redisKeys() },
    await blocks(),
  ];
}

function hostMessages(): string {
  const writer = new FrameWriter();
  for (const operation of [...OPERATIONS, HOLDERS]) encodeOperation(writer, operation, 12_345);
  const operations = writer.take();
  const reading = { passed: 1, nowTicks: 2, levelsTicks: [3, 4] };
  encodeReading(writer, reading);
  encodeReading(writer, { ...reading, bucketNowTicks: [5, 6], bucketWallMs: [7, undefined] });
  encodeReading(writer, { nowTicks: 0, levelsTicks: [], holders: [['h1'], []] });
  encodeExpired(writer);
  encodeError(writer, new Error('failed'));
  return Buffer.concat([encodeHello(HELLO), operations, writer.take()]).toString('hex');
}

async function handoverFile(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-formats-'));
  const path = join(folder, 'limits.sock');
  const from = { ...HELLO, version: OLDEST_VERSION };
  await new HandoverFile(path, `${path}.new-`).write(
    { from, parts: [Buffer.from('one'), Buffer.from('two')] },
    () => true,
  );
  const written = readFileSync(`${path}.handover`).toString('hex');
  rmSync(folder, { recursive: true });
  return written;
}

function memoryDump(): StoredFormat {
  const table = (limit: string, isOnWall: boolean) => ({
    limit,
    isOnWall,
    latestEnd: 5,
    size: 1,
    forEach: (visit: (low: number, high: number, value: number) => void) => visit(1, -2, 3.5),
  });
  const secret = Uint8Array.from({ length: 16 }, (_, i) => i);
  const bytes = Buffer.from(writeDump({ secret, wallMs: 7, tables: [table('Rate', false), table('Quota é', true)] }));
  return { name: 'dump of the memory store', version: bytes.readUInt32LE(8), sample: bytes.toString('hex') };
}

function slotsDump(): StoredFormat {
  const slots = new SlotBuckets();
  slots.take({ limit: 'Slots', id: 'a' }, { holder: 'h1', expiryMs: 1000 }, 2, 5);
  const [part] = slotDumpsOf(slots, 6, 7);
  const sample = Buffer.from(part!).toString('latin1');
  return { name: 'slots that are handed over', version: versionIn(sample.slice(0, 9)), sample };
}

function program(): string {
  const calls = [...OPERATIONS, LOOK].map((operation) => {
    const batches = 'alternatives' in operation ? operation.alternatives : [operation.batch];
    return {
      kind: operation.kind,
      batches,
      keys: batches.flatMap((batch) => batch.map(keyOf)),
    } as unknown as StoreCall;
  });
  const { keys, numbers, holders } = new Program(calls, () => 99);
  return JSON.stringify({ keys, numbers, holders });
}

function tables(): StoredFormat {
  const schema = textOf('packages/postgres/sql/schema.sql');
  const statements = Array.from(schema.matchAll(/^create unlogged table [^;]+;/gm), ([text]) => text);
  const [, comment] = /^comment on table sluice is '(.+)';$/m.exec(schema)!;
  return { name: 'tables in PostgreSQL', version: versionIn(comment!), sample: statements.join('\n') };
}

function redisKeys(): string {
  const buckets = [
    { limit: 'Rate', id: 'a:b é' },
    { limit: 'Quota', id: 'a', calendar: 'month:Europe/Berlin' },
    { limit: 'Slots', id: 'a{}', slots: true },
  ] as const;
  const tags = [undefined, 'id', 'all', ({ id }: { readonly id: string }) => id] as const;
  const keys = tags.flatMap((hashTag) => {
    const names = new BucketKeys({ prefix: 'sluice:', hashTag });
    return [...buckets.map((bucket) => names.keyOf(bucket)), names.streamKey('', 's'), names.unusedKey];
  });
  return JSON.stringify(keys);
}

/** The text with all blocks, and where each store has it. */
async function blocks(): Promise<StoredFormat> {
  let text = '';
  const write = (_: string, written: string): boolean => (text = written) !== '';
  const store = storeBlocks({ read: () => '', write }, new FakeTime());
  await store.put([{ limit: 'Rate', id: 'a:b é', untilMs: 1_800_000_000_000, reason: 'why', by: 'mia' }], 0, 1);
  const [, version] = /^[0-9a-f]{16} \{"version":(\d+),/.exec(text)!;
  const keys = [undefined, 'id', 'all'].map((hashTag) => new BucketKeys({ prefix: 'sluice:', hashTag }).blocksKey);
  const [table] = /^create table if not exists sluice_blocks [^;]+;$/m.exec(
    textOf('packages/postgres/sql/schema.sql'),
  )!;
  const folder = mkdtempSync(join(tmpdir(), 'sluice-formats-'));
  await new BlocksFiles(join(folder, 'limits.sock')).write('', text);
  const sample = JSON.stringify([text.slice(16), keys, table, readdirSync(folder)]);
  rmSync(folder, { recursive: true });
  return { name: 'blocks of a store', version: Number(version), sample };
}

/** The number at the end of a text. */
function versionIn(text: string): number {
  return Number(/(\d+)"?$/.exec(text)![1]);
}
