// `npm run trial -- mutants-postgres` breaks the functions of the PostgreSQL store on purpose, one change at a time, and fails if the
// contract of stores does not notice one. `--only <text>` tries those whose names contain a text.
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import type { StoreOperation } from '@sluice/core/store';
import { FakeTime, storeContract } from '@sluice/core/testing';
import { postgresStore } from '@sluice/postgres';
import { changeOf } from '../../mutants/mutated-run.ts';
import { postgresServer } from '../postgres-server.ts';
import { steeredDatabase } from '../steered-database.ts';
import { schemaMutants } from './schema-mutants.ts';

const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } });
const TABLE = 'steered_buckets';
const database = await steeredDatabase(await postgresServer());
await postgresStore({ pool: database.pool, table: TABLE }).migrate();

const cases = storeContract({
  clock: 'steered',
  async create() {
    await database.empty(TABLE);
    const time = new FakeTime();
    const store = postgresStore({ pool: database.pool, table: TABLE, time });
    await store.ready();
    const run = store.run.bind(store);
    return {
      // A store that is broken may not answer at all.
      store: Object.assign(store, { run: (operation: StoreOperation, ms = 10_000) => run(operation, ms) }),
      async advance(ms) {
        await database.advance(ms);
        time.advance(ms);
      },
      stepBack: (ms) => database.advance(-ms),
    };
  },
}).filter(({ alone }) => !alone);

/** The name of the first promise that the functions of a text break. */
async function brokenBy(text: string): Promise<string | undefined> {
  await database.pool.query(text.replaceAll(/\bsluice/g, TABLE));
  /* oxlint-disable no-await-in-loop -- one after the other */
  for (const { name, run } of cases) {
    try {
      await run();
    } catch {
      return name;
    }
  }
  return undefined;
}

const whole = await readFile(new URL('../../../packages/postgres/sql/schema.sql', import.meta.url), 'utf8');
const broken = await brokenBy(whole);
if (broken !== undefined) throw new Error(`Without a mutant, this promise is broken: ${broken}`);
const mutants = schemaMutants.filter(({ name }) => name.includes(values.only));
let survivors = 0;
for (const mutant of mutants) {
  const { source } = await changeOf(mutant);
  const found = await brokenBy(source);
  if (found === undefined) survivors++;
  console.log(`${mutant.name.padEnd(40)}  ${found === undefined ? 'SURVIVES' : `caught: ${found}`}`);
}
console.log(`\n${mutants.length} mutants, ${survivors} survive`);
process.exit(survivors === 0 && mutants.length > 0 ? 0 : 1);
