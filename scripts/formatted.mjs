import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'oxfmt';
import { root } from './pnpm.mjs';

/**
 * Text in the form in which `npm run format` leaves a file.
 *
 * @param {string} name of the file, by which its language is told
 * @param {string} text
 */
export async function formatted(name, text) {
  const { ignorePatterns: _, ...options } = JSON.parse(readFileSync(join(root, '.oxfmtrc.json'), 'utf8'));
  const { code, errors } = await format(name, text, options);
  if (errors.length > 0)
    throw new Error(`${name} can't be formatted: ${errors.map(({ message }) => message).join(' ')}`);
  return code;
}
