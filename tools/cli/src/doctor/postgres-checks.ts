import { clockFinding } from './clocks.ts';
import { Check, type Finding } from './finding.ts';
import type { Found, Tables } from './postgres-look.ts';

/** What the findings depend on besides the server. */
interface Basis {
  readonly tables: Tables;
  /** The clock of this process when it asked. */
  readonly nowMs: number;
  readonly deadlineMs: number;
}

type PostgresCheck = (found: Found, asked: Basis) => Finding;

/** The oldest major version that has all that the functions use. */
const OLDEST = 14;
/** A store makes at most two connections. */
const OF_A_STORE = 2;

/** Checks of what a server reports about itself: each finds what would fail later. */
export const POSTGRES_CHECKS: readonly PostgresCheck[] = [
  version,
  role,
  tables,
  functions,
  permissions,
  clock,
  timeouts,
  connections,
  vacuum,
  pooler,
];

function version({ settings }: Found): Finding {
  const check = new Check('server');
  const name = `PostgreSQL ${settings.version}`;
  if (settings.version_num >= OLDEST * 10_000) return check.ok(name);
  return check.wrong(name, `The store needs PostgreSQL ${OLDEST} or later. Upgrade it.`);
}

function role({ settings }: Found): Finding {
  const check = new Check('role');
  if (settings.is_standby) return check.wrong('a standby', 'It takes no writes. Connect to the primary.');
  if (!settings.read_only) return check.ok('primary');
  const remedy = `Allow writes: alter role ${settings.user} set default_transaction_read_only to off, or do so for the database.`;
  return check.wrong('transactions of this user may only read', remedy);
}

function tables({ tables: found, settings }: Found, { tables: wanted }: Basis): Finding {
  const check = new Check('tables');
  const missing = found.find(({ exists }) => !exists);
  if (missing !== undefined) {
    const who =
      settings.may_create === true ? 'Run the SQL of schemaSql(), or let a store with `migrate` start.' : MIGRATE;
    return check.wrong(`${missing.name} does not exist`, who);
  }
  const strange = found.find(({ kind }) => kind !== 'r');
  if (strange !== undefined) return check.wrong(`${strange.name} is not an ordinary table`, OWN_TABLE);
  const [first] = found;
  if (first!.comment !== wanted.version) {
    const was = first!.comment === null ? 'has no comment' : `has the comment '${first!.comment}'`;
    return check.wrong(`${first!.name} ${was}, and not '${wanted.version}'`, OWN_TABLE);
  }
  const [one, other] = found.map(({ persistence }) => persistence);
  if (one !== other) {
    const remedy =
      'One survives a crash and the other does not. Change both: alter table … set logged, or set unlogged.';
    return check.wrong(`one is logged and the other is not`, remedy);
  }
  return check.ok(
    `${wanted.version.replace(/^.*, /, '')}, ${one === 'p' ? 'logged' : 'unlogged: a crash makes all buckets full'}`,
  );
}

const MIGRATE = 'This user may not create it. Run the SQL of schemaSql(), or store.migrate(), as one who may.';
const OWN_TABLE =
  'Another program, or a later version, made it. Give the store a `table` of its own, or update @sluice/postgres.';

function functions({ functions: found }: Found, { tables: { functions: wanted } }: Basis): Finding {
  const check = new Check('functions');
  const missing = found.find(({ count }) => count === 0);
  if (missing !== undefined)
    return check.wrong(`${missing.name} does not exist`, 'Run the SQL of schemaSql(), or store.migrate().');
  const several = found.find(({ count }) => count > 1);
  if (several !== undefined) {
    const remedy = 'Drop the one that the store has not made: `\\df` of psql shows their arguments.';
    return check.wrong(`there are ${several.count} functions ${several.name}`, remedy);
  }
  const other = found.find(({ name, comment }) => comment !== wanted.get(name));
  if (other === undefined) return check.ok('those of this version');
  const remedy = `If no process uses it, drop it, and run the SQL of schemaSql(). Its comment must be '${wanted.get(other.name)}'.`;
  return check.wrong(`${other.name} is another one: its comment is '${other.comment ?? ''}'`, remedy);
}

function permissions({ tables: found, functions: run, settings }: Found): Finding {
  const check = new Check('permissions');
  const lacks = [
    ...found
      .filter(({ exists, lacks: missing }) => exists && missing.length > 0)
      .map(({ name, lacks: missing }) => `${missing.join(', ')} on ${name}`),
    ...run.filter(({ may_execute: may }) => may === false).map(({ name }) => `EXECUTE on ${name}`),
  ];
  if (lacks.length === 0) return check.ok('all');
  return check.wrong(
    `lacks ${lacks.join('; ')}`,
    `Grant them: grant select, insert, update, delete on … to ${settings.user}; grant execute on function … to ${settings.user}.`,
  );
}

function clock({ settings }: Found, { nowMs }: Basis): Finding {
  return clockFinding(settings.clock_ms - nowMs);
}

function timeouts({ settings }: Found, { deadlineMs }: Basis): Finding {
  const check = new Check('timeouts');
  const all = { statement_timeout: settings.statement_timeout_ms, lock_timeout: settings.lock_timeout_ms };
  const short = Object.entries(all).find(([, ms]) => ms > 0 && ms < deadlineMs);
  if (short === undefined) return check.ok('none is shorter than the deadline');
  const [name, ms] = short;
  const remedy = `It ends decisions before their deadline of ${deadlineMs} ms. Raise it: alter role ${settings.user} set ${name} to ${2 * deadlineMs}.`;
  return check.wrong(`${name} is ${ms} ms`, remedy);
}

function connections({ settings }: Found): Finding {
  const check = new Check('connections');
  const scopes = [
    { of: '`max_connections`', used: settings.used, most: settings.most },
    { of: 'the role', used: settings.role_used, most: settings.role_most },
    { of: 'the database', used: settings.database_used, most: settings.database_most },
  ];
  const full = scopes.find(({ used, most }) => most >= 0 && used >= 0.9 * most);
  if (full === undefined) return check.ok(`${settings.used} of ${settings.most}`);
  const remedy = `Each process makes up to ${OF_A_STORE}. Raise the limit, make the pools smaller, or put PgBouncer between.`;
  return check.wrong(`${full.used} of ${full.most} by ${full.of}`, remedy);
}

function vacuum({ settings, tables: found }: Found): Finding {
  const check = new Check('vacuum');
  const without = found.find(({ autovacuum }) => !autovacuum);
  if (settings.autovacuum && without === undefined) return check.ok('on');
  const where = settings.autovacuum ? `off for ${without!.name}` : 'off';
  return check.wrong(`autovacuum is ${where}`, 'Old versions of rows stay, and decisions become slower. Turn it on.');
}

function pooler({ isPooled }: Found): Finding {
  return new Check('pooler').ok(isPooled ? 'between, such as PgBouncer' : 'none');
}
