import { createHash } from 'node:crypto';

/** The functions of schema.sql, each with the fingerprint of its text. Comments and the breaking of lines are not in it. */
export function functionFingerprints(sql: string): ReadonlyMap<string, string> {
  const functions = sql.matchAll(/^create or replace function (\w+)\([^]*?^\$\$;$/gm);
  return new Map(Array.from(functions, ([text, name]) => [name!, fingerprintOf(statementOf(text))]));
}

/** The fingerprint of a text: of a function, it is in its comment. */
export function fingerprintOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

function statementOf(text: string): string {
  return text
    .replaceAll(/^\s*--.*$/gm, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
