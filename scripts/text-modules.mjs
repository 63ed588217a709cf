import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './pnpm.mjs';

/** The texts that packages send to a server: the file, and the module that it becomes. */
const TEXTS = [
  { name: 'decideLua', file: 'redis/lua/decide.lua', module: 'redis/src/batches/decide-lua.ts' },
  { name: 'syncLua', file: 'redis/lua/sync.lua', module: 'redis/src/leases/sync-lua.ts' },
  { name: 'schemaSqlText', file: 'postgres/sql/schema.sql', module: 'postgres/src/schema/schema-sql.ts' },
];

/** Writes the texts as modules: a CommonJS build and a bundle find no files beside them. */
export function writeTextModules() {
  for (const { name, file, module } of TEXTS) {
    const path = join(root, 'packages', module);
    const text = moduleOf(name, file, readFileSync(join(root, 'packages', file), 'utf8'));
    // An unchanged file is left alone, so that it is not built again.
    if (!existsSync(path) || readFileSync(path, 'utf8') !== text) writeFileSync(path, text);
  }
}

/**
 * @param {string} name
 * @param {string} file
 * @param {string} text
 */
function moduleOf(name, file, text) {
  const literal = text.replace(/[\\`]|\$\{/g, String.raw`\$&`);
  const comment = `/** The text of ${file.replace(/^\w+\//, '')}, written by \`npm run setup\`. */`;
  return `${comment}\nexport const ${name}: string = \`${literal}\`;\n`;
}
