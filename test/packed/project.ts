import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const exec = promisify(execFile);

/** A folder outside the workspace, in which npm does what it would for a user. */
export class Project {
  readonly folder: string = mkdtempSync(join(tmpdir(), 'sluice-packed-'));

  /** Without a package.json it is an empty folder, otherwise a project with the files of `consumer`. */
  constructor({ isEmpty = false }: { readonly isEmpty?: boolean } = {}) {
    if (isEmpty) return;
    writeFileSync(join(this.folder, 'package.json'), '{ "private": true, "type": "module" }\n');
    cpSync(new URL('consumer', import.meta.url), this.folder, { recursive: true });
  }

  async install(packages: string[]): Promise<void> {
    await this.run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error', ...packages]);
  }

  /** What a file prints, read as JSON. */
  async node(...args: string[]): Promise<unknown> {
    return JSON.parse(await this.run(process.execPath, args));
  }

  /** Runs `sluice` of a tarball that is not installed. */
  async npx(tarball: string, args: string[]): Promise<string> {
    return this.run('npx', ['--yes', '-p', tarball, 'sluice', ...args]);
  }

  /** Runs a program of a package that is installed. */
  async bin(program: string, args: string[], env: Record<string, string> = {}): Promise<string> {
    return this.run(join(this.folder, 'node_modules', '.bin', program), args, env);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }

  /** Runs a program in the folder, and returns what it prints. */
  async run(program: string, args: string[], env: Record<string, string> = {}): Promise<string> {
    const { stdout } = await exec(program, args, {
      cwd: this.folder,
      env: { ...ownEnvironment(), ...env },
      shell: process.platform === 'win32',
    });
    return stdout;
  }
}

/** Without what `npm test` and vitest tell their children about this workspace. */
function ownEnvironment(): NodeJS.ProcessEnv {
  const ours =
    /^(npm_(package|lifecycle|config_(local_prefix|call|package)$)|VITEST|NODE_ENV$|NODE_OPTIONS$|INIT_CWD$)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !ours.test(name)));
}
