import type { Names } from '../schema/table-name.ts';
import { callError } from '../server/server-errors.ts';
import type { Session } from '../server/session.ts';

/** A caller that waits for the holders of slots. */
export interface HoldersLook {
  readonly keys: readonly string[];
  readonly deadlineMs: number;
  readonly resolve: (holders: readonly (readonly string[])[]) => void;
  readonly reject: (error: unknown) => void;
}

/** Reads who holds slots of some buckets. An error reaches the caller alone: the next statement finds a lost connection. */
export async function readHolders(session: Session, { slots }: Names, look: HoldersLook): Promise<void> {
  const text =
    `select s.key, s.holder from ${slots} as s where s.key = any($1::text[]) ` +
    'and s.ends > (extract(epoch from clock_timestamp()) - 1767225600) * 16000000';
  try {
    const rows = (await session.execute({ text, values: [look.keys] }, look.deadlineMs)) as [string, string][];
    const holders = new Map(look.keys.map((key) => [key, new Set<string>()]));
    for (const [key, holder] of rows) holders.get(key)?.add(holder);
    look.resolve(look.keys.map((key) => [...holders.get(key)!]));
  } catch (error) {
    look.reject(callError(error));
  }
}
