import type { HttpId, HttpTable } from './table.ts';

/** The fields in which proxies describe a request, by what a table makes of them. */
const FORWARDED = { host: 'x-forwarded-host', method: 'x-forwarded-method', path: 'x-forwarded-uri' } as const;

/**
 * Returns the fields of a proxy's request that a table reads, in lower case. A proxy needs to send no other.
 *
 * @param addressField - In which proxies pass the address of the client.
 */
export function fieldsRead({ rules }: HttpTable, addressField: string): readonly string[] {
  const names = rules.flatMap(({ id, methods, paths }) => [
    ...fieldsOfId(id, addressField),
    ...(methods === undefined ? [] : [FORWARDED.method]),
    ...(paths === undefined ? [] : [FORWARDED.path]),
  ]);
  return [...new Set(names)].toSorted();
}

function fieldsOfId(id: HttpId, addressField: string): readonly string[] {
  if (id.from === 'everyone') return [];
  if (id.from === 'address') return [addressField];
  return [id.from === 'header' ? id.name : FORWARDED[id.from]];
}
