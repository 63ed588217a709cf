import { SluiceError } from '@sluice/core';
import type { BlocksText } from '@sluice/core/store';
import type { Schema } from '../schema/schema.ts';
import type { Names } from '../schema/table-name.ts';
import { lacksPermission, lacksSchema } from '../server/server-errors.ts';
import type { Session } from '../server/session.ts';

interface BlocksParts {
  readonly names: Names;
  readonly schema: Schema;
  /** Executes statements beside the calls of buckets. */
  readonly aside: <T>(work: (session: Session) => Promise<T>) => Promise<T>;
}

/** The text with all blocks of a store, which is one row of a table. */
export function blocksText({ names: { blocks }, schema, aside }: BlocksParts): BlocksText {
  /** Whether the table was seen. A statement that names a missing one would be in the log of the server. */
  let exists = false;
  const find = async (session: Session, deadlineMs: number): Promise<boolean> => {
    if (exists) return true;
    const [row] = await session.execute({ text: 'select to_regclass($1)::text', values: [blocks] }, deadlineMs);
    return (exists = (row as readonly unknown[])[0] !== null);
  };
  const execute = async (session: Session, statement: Statement, deadlineMs: number): Promise<readonly unknown[]> => {
    try {
      return await session.execute(statement, deadlineMs);
    } catch (error) {
      if (lacksSchema(error)) exists = false;
      throw lacksPermission(error) ? noPermission(blocks, error) : error;
    }
  };
  return {
    read: (revision, deadlineMs) =>
      aside(async (session) => {
        if (!(await find(session, deadlineMs))) return '';
        const text = `select case when b.revision = $1 then null else b.text end from ${blocks} as b`;
        const [row] = (await execute(session, { text, values: [revision] }, deadlineMs)) as (string | null)[][];
        return row === undefined ? '' : (row[0] ?? undefined);
      }),
    write: (revision, text, _lifeMs, deadlineMs) =>
      aside(async (session) => {
        if (!(await find(session, deadlineMs))) await schema.addBlocks(session);
        const written = await execute(session, writing(blocks, revision, text), deadlineMs);
        return written.length > 0;
      }),
  };
}

interface Statement {
  readonly text: string;
  readonly values: string[];
}

function writing(blocks: string, revision: string, text: string): Statement {
  if (text === '') return { text: `delete from ${blocks} as b where b.revision = $1 returning 1`, values: [revision] };
  return revision === ''
    ? {
        text: `insert into ${blocks} values (true, left($1, 16), $1) on conflict do nothing returning 1`,
        values: [text],
      }
    : {
        text: `update ${blocks} as b set revision = left($2, 16), text = $2 where b.revision = $1 returning 1`,
        values: [revision, text],
      };
}

function noPermission(blocks: string, cause: unknown): SluiceError {
  const what = `The user lacks a permission on the table ${blocks}, which has the blocked ids.`;
  const remedy = 'Grant select on it to all processes, and to those who block also insert, update and delete.';
  return new SluiceError('ERR_STORE_SCHEMA', `${what} ${remedy}`, { cause });
}
