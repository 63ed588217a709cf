import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const unitFile = join(root, 'tools/cli/deploy/sluice.service');
/** The units of systemd itself, on which ours depends. */
const UNITS = 'usr/lib/systemd/system';

it('systemd takes the unit file of `sluice serve` without a remark, and finds the command where npm installs it', () => {
  const machine = machineWithUnit();
  const { status, stderr } = spawnSync('systemd-analyze', [
    'verify',
    '--man=no',
    `--root=${machine}`,
    'sluice.service',
  ]);
  // A key that it does not know is a remark, and no failure.
  expect(String(stderr)).toBe('');
  expect(status).toBe(0);
});

it('the service of the unit file can do little: systemd rates its exposure as at most 2 of 10', () => {
  const words = ['security', '--offline=true', '--threshold=20', unitFile];
  const { status, stdout } = spawnSync('systemd-analyze', words, { encoding: 'utf8' });
  expect(stdout).toContain('Overall exposure level for sluice.service');
  expect(status).toBe(0);
});

/** The root folder of a machine that has systemd, our unit and the command. */
function machineWithUnit(): string {
  const machine = mkdtempSync(join(tmpdir(), 'sluice-machine-'));
  onTestFinished(() => rmSync(machine, { recursive: true }));
  cpSync(join('/', UNITS), join(machine, UNITS), { recursive: true, verbatimSymlinks: true });
  symlinkSync('usr/lib', join(machine, 'lib'));
  for (const folder of ['etc/systemd/system', 'usr/local/bin']) mkdirSync(join(machine, folder), { recursive: true });
  copyFileSync(unitFile, join(machine, 'etc/systemd/system/sluice.service'));
  writeFileSync(join(machine, 'usr/local/bin/sluice'), '#!/usr/bin/env node\n', { mode: 0o755 });
  return machine;
}
