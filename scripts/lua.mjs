import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './pnpm.mjs';

const folder = join(root, 'packages', 'redis');

/** Writes decide.lua as a module: a CommonJS build and a bundle find no files beside them. */
export function writeLuaModule() {
  const file = join(folder, 'src', 'batches', 'decide-lua.ts');
  const module = moduleOf(readFileSync(join(folder, 'lua', 'decide.lua'), 'utf8'));
  // An unchanged file is left alone, so that it is not built again.
  if (!existsSync(file) || readFileSync(file, 'utf8') !== module) writeFileSync(file, module);
}

/** @param {string} lua */
function moduleOf(lua) {
  const literal = lua.replace(/[\\`]|\$\{/g, String.raw`\$&`);
  return `/** The text of lua/decide.lua, written by \`npm run setup\`. */\nexport const decideLua: string = \`${literal}\`;\n`;
}
