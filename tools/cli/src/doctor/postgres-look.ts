import { schemaSql } from '@sluice/postgres';
import type { Client } from 'pg';
import type { Socket } from 'node:net';

/** What a store has in the database, by the names of its SQL. */
export interface Tables {
  /** The table, then those of slots and of blocks. */
  readonly tables: readonly string[];
  readonly version: string;
  /** The functions, and the comment that each has. */
  readonly functions: ReadonlyMap<string, string>;
}

/** Returns what `schemaSql` makes. */
export function tablesOf(table: string | undefined): Tables {
  const sql = schemaSql(table === undefined ? {} : { table });
  const all = (pattern: RegExp): (readonly [string, string])[] =>
    Array.from(sql.matchAll(pattern), ([, name = '', text = '']) => [name, text] as const);
  const [[, version] = ['', '']] = all(/^comment on table (\S+) is '(.+)';$/gm);
  return {
    tables: all(/^create (?:unlogged )?table if not exists (\S+) \(()/gm).map(([name]) => name),
    version,
    functions: new Map(all(/^comment on function (\S+) is '(.+)';$/gm)),
  };
}

/** A table as it was found. */
interface FoundTable {
  readonly name: string;
  readonly exists: boolean;
  readonly kind: string | null;
  readonly persistence: string | null;
  readonly comment: string | null;
  readonly autovacuum: boolean;
  readonly lacks: readonly string[];
}

interface FoundFunction {
  readonly name: string;
  /** Functions of one name differ by their arguments. */
  readonly count: number;
  readonly comment: string | null;
  readonly may_execute: boolean | null;
}

interface Settings {
  readonly version: string;
  readonly version_num: number;
  readonly is_standby: boolean;
  readonly read_only: boolean;
  readonly clock_ms: number;
  readonly statement_timeout_ms: number;
  readonly lock_timeout_ms: number;
  readonly autovacuum: boolean;
  readonly user: string;
  readonly may_create: boolean | null;
  readonly client_port: number | null;
  readonly used: number;
  readonly most: number;
  readonly role_used: number;
  readonly role_most: number;
  readonly database_used: number;
  readonly database_most: number;
}

/** What was found on a server. */
export interface Found {
  readonly settings: Settings;
  readonly tables: readonly FoundTable[];
  readonly functions: readonly FoundFunction[];
  /** Whether the server has its connection to somebody else than this process. */
  readonly isPooled: boolean;
}

const SETTINGS = `select current_setting('server_version') as version,
  current_setting('server_version_num')::int as version_num,
  pg_is_in_recovery() as is_standby, current_setting('default_transaction_read_only')::boolean as read_only,
  (extract(epoch from clock_timestamp()) * 1000)::float8 as clock_ms,
  (select reset_val::int from pg_settings where name = 'statement_timeout') as statement_timeout_ms,
  (select setting::int from pg_settings where name = 'lock_timeout') as lock_timeout_ms,
  current_setting('autovacuum')::boolean as autovacuum, current_user as user,
  has_schema_privilege(coalesce($1, current_schema()), 'CREATE') as may_create, inet_client_port() as client_port,
  (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as used,
  current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as most,
  (select count(*)::int from pg_stat_activity where usename = current_user) as role_used,
  (select rolconnlimit from pg_roles where rolname = current_user) as role_most,
  (select count(*)::int from pg_stat_activity where datname = current_database()) as database_used,
  (select datconnlimit from pg_database where datname = current_database()) as database_most`;

const TABLES = `select n as name, c.oid is not null as exists, c.relkind::text as kind, c.relpersistence::text as persistence,
  obj_description(c.oid, 'pg_class') as comment,
  not coalesce('autovacuum_enabled=false' = any (c.reloptions), false) as autovacuum,
  array(select p from unnest(array['SELECT', 'INSERT', 'UPDATE', 'DELETE']) as p
    where not has_table_privilege(c.oid, p)) as lacks
from unnest($1::text[]) with ordinality as t(n, i) left join pg_class as c on c.oid = to_regclass(n) order by i`;

// The name without arguments is not enough where there are two functions of it.
const FUNCTIONS = `select n as name, count(p.oid)::int as count, min(obj_description(p.oid, 'pg_proc')) as comment,
  bool_and(has_function_privilege(p.oid, 'EXECUTE')) as may_execute
from unnest($1::text[]) with ordinality as t(n, i)
left join pg_proc as p on p.proname = (parse_ident(n))[array_length(parse_ident(n), 1)]
  and case when array_length(parse_ident(n), 1) = 2 then p.pronamespace = to_regnamespace(quote_ident((parse_ident(n))[1]))
    else pg_function_is_visible(p.oid) end
group by n, i order by i`;

/** Looks what there is. Changes nothing. */
export async function lookAt(client: Client, wanted: Tables): Promise<Found> {
  // A statement timeout of the user may be too short for these statements. A pooler may give the session to others.
  await client.query('begin read only; set local statement_timeout = 0');
  try {
    return await lookIn(client, wanted);
  } finally {
    await client.query('rollback').catch(() => {});
  }
}

async function lookIn(client: Client, { tables, functions }: Tables): Promise<Found> {
  // Each name is quoted: "schema"."table", or "table".
  const [first = '', second] = tables[0]!.split('"."');
  const schema = second === undefined ? null : first.slice(1);
  const settings = await client.query<Settings>(SETTINGS, [schema]);
  const foundTables = await client.query<FoundTable>(TABLES, [tables]);
  const foundFunctions = await client.query<FoundFunction>(FUNCTIONS, [[...functions.keys()]]);
  const [found] = settings.rows;
  const { stream } = (client as unknown as { readonly connection: { readonly stream: Socket } }).connection;
  const isPooled =
    found!.client_port !== null && stream.localPort !== undefined && found!.client_port !== stream.localPort;
  return { settings: found!, tables: foundTables.rows, functions: foundFunctions.rows, isPooled };
}
