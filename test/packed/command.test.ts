import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { exampleLog } from '../../scripts/example-log.mjs';
import { tarballOf } from '../../scripts/pack-command.mjs';
import { Project } from './project.ts';
import { Image, Served, unitCommand } from './deployed.ts';
import { packedTarballs } from './tarballs.ts';

const tarballs = await packedTarballs();
const command = tarballs.command();
afterAll(() => tarballs.remove());

describe('the one file of the command, in an empty folder', () => {
  const image = new Image(command);
  afterAll(() => image.remove());

  let project: Project;
  beforeEach(() => {
    project = new Project({ isEmpty: true });
    onTestFinished(() => project.remove());
    writeFileSync(join(project.folder, 'access.log'), exampleLog().join('\n'));
  });

  it('is run by npx', async () => {
    expect(await project.npx(command, ['suggest', 'access.log'])).toContain('requests of ');
  });

  it('is installed for all folders, as the Dockerfile installs it, and then has all that it needs', async () => {
    const sluice = await image.installed();
    writeFileSync(join(project.folder, 'limits.yaml'), 'Orders: { count: 300, period: 3h, idFormat: domain }\n');
    const words = ['explain', 'limits.yaml', '--limit', 'Orders', 'example.co.uk'];
    expect(await project.run(sluice, words)).toContain('Orders example.co.uk: 300 per 3 h');
    const failed = project.run(sluice, ['peek', '--redis', 'redis://127.0.0.1:1', 'limits.yaml', 'Orders', 'a.org']);
    await expect(failed).rejects.toThrow('ERR_STORE_UNAVAILABLE');
  });

  it.each([
    ['the command of the Dockerfile', () => image.command()],
    ['the command of the unit file of systemd', unitCommand],
  ])('%s serves limits and tables until SIGTERM', async (_name, words) => {
    const served = await Served.start(await image.installed(), project.folder, words());
    expect(served.status(image.healthCheck())).toBe(0);
    expect(await served.stop()).toBe(0);
  });

  it('replays with the keys of a project, which has packages of its own', async () => {
    await project.install([tarballOf('@sluice/core', tarballs.paths)]);
    writeFileSync(join(project.folder, 'limits.yaml'), 'Requests: { count: 1, period: 1s, burst: 12 }\n');
    writeFileSync(
      join(project.folder, 'keys.mjs'),
      "import { clientNetwork } from '@sluice/core';\nexport const keys = { Requests: clientNetwork() };\n",
    );
    const words = ['replay', 'access.log', '--limits', 'limits.yaml', '--keys', 'keys.mjs', '--show-ids'];
    expect(await project.npx(command, words)).toContain('Requests 203.0.113.10: ');
  });
});
