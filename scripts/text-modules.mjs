import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './pnpm.mjs';

const folder = join(root, 'packages', 'redis');

/** The scripts, and the room whose module each becomes. */
const SCRIPTS = { decide: 'batches', sync: 'leases' };

/** Writes the scripts as modules: a CommonJS build and a bundle find no files beside them. */
export function writeLuaModules() {
  for (const [name, room] of Object.entries(SCRIPTS)) {
    const file = join(folder, 'src', room, `${name}-lua.ts`);
    const module = moduleOf(name, readFileSync(join(folder, 'lua', `${name}.lua`), 'utf8'));
    // An unchanged file is left alone, so that it is not built again.
    if (!existsSync(file) || readFileSync(file, 'utf8') !== module) writeFileSync(file, module);
  }
}

/**
 * @param {string} name
 * @param {string} lua
 */
function moduleOf(name, lua) {
  const literal = lua.replace(/[\\`]|\$\{/g, String.raw`\$&`);
  const comment = `/** The text of lua/${name}.lua, written by \`npm run setup\`. */`;
  return `${comment}\nexport const ${name}Lua: string = \`${literal}\`;\n`;
}
