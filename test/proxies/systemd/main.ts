// `npm run trial -- systemd` starts the unit file of `sluice serve` with a real systemd, the first process of namespaces of its own, and
// tries what docs/proxies.md promises. It needs root on Linux, and nothing of this machine changes.
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packCommand } from '../../../scripts/pack-command.mjs';
import { packedOnce } from '../../../scripts/pack.mjs';
import { Image } from '../../packed/deployed.ts';

const own = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
const NAMESPACES = ['--mount', '--pid', '--fork', '--uts', '--ipc', '--net', '--propagation=private', '--kill-child'];
const LONGEST_MS = 120_000;

if (process.platform !== 'linux' || process.getuid?.() !== 0 || !existsSync('/lib/systemd/systemd')) {
  console.error(
    '`npm run trial -- systemd` must be root on a Linux with systemd, to make namespaces. Try it in a virtual machine.',
  );
  process.exit(2);
}

const folder = mkdtempSync(join(tmpdir(), 'sluice-systemd-'));
try {
  for (const name of ['layers', 'output']) mkdirSync(join(folder, name));
  copyFileSync(own('probe.sh'), join(folder, 'output', 'probe.sh'));
  const image = new Image(packCommand(await packedOnce(), folder));
  const prefix = dirname(dirname(await image.installed()));
  const words = [own('machine.sh'), folder, prefix, own('../../../tools/cli/deploy/sluice.service')];
  const { status, stderr } = spawnSync('unshare', [...NAMESPACES, 'bash', ...words], {
    timeout: LONGEST_MS,
    encoding: 'utf8',
  });
  image.remove();
  const output = join(folder, 'output', 'text');
  console.log(existsSync(output) ? readFileSync(output, 'utf8') : stderr);
  console.log(status === 0 ? 'All promises are kept.' : `A promise is not kept; systemd ended with ${status}.`);
  process.exitCode = status === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true });
}
