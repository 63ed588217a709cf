import type { Names } from '../schema/table-name.ts';
import type { Session } from '../server/session.ts';

/** Reads who holds slots of the buckets with these keys. */
export async function readHolders(
  session: Session,
  { slots }: Names,
  { keys, deadlineMs }: { readonly keys: readonly string[]; readonly deadlineMs: number },
): Promise<readonly (readonly string[])[]> {
  const text =
    `select s.key, s.holder from ${slots} as s where s.key = any($1::text[]) ` +
    'and s.ends > (extract(epoch from clock_timestamp()) - 1767225600) * 16000000';
  const rows = (await session.execute({ text, values: [keys] }, deadlineMs)) as [string, string][];
  const holders = new Map(keys.map((key) => [key, new Set<string>()]));
  for (const [key, holder] of rows) holders.get(key)?.add(holder);
  return keys.map((key) => [...holders.get(key)!]);
}
