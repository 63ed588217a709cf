// `node scripts/draw-compared.mjs` draws pictures of docs/coming-from-other-libraries.md by the command `sluice simulate`,
// and prints its tables.
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../tools/cli/dist/main.js', import.meta.url));
const folder = fileURLToPath(new URL('../docs/compared/', import.meta.url));

for (const file of readdirSync(folder).filter((name) => name.endsWith('.yaml'))) {
  const picture = file.replace('.yaml', '.svg');
  console.log(`$ sluice simulate ${file}`);
  console.log(execFileSync(process.execPath, [main, 'simulate', file, '--svg', picture], { cwd: folder }).toString());
}
