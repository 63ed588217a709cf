import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const exec = promisify(execFile);

/** An empty project outside the workspace, into which npm installs what a user would. */
export class Project {
  readonly folder: string = mkdtempSync(join(tmpdir(), 'sluice-packed-'));

  constructor() {
    writeFileSync(join(this.folder, 'package.json'), '{ "private": true, "type": "module" }\n');
    cpSync(new URL('consumer', import.meta.url), this.folder, { recursive: true });
  }

  async install(packages: string[]): Promise<void> {
    await this.#run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', ...packages]);
  }

  /** What a file prints, read as JSON. */
  async node(...args: string[]): Promise<unknown> {
    return JSON.parse(await this.#run(process.execPath, args));
  }

  /** Runs a program of a package that is installed. */
  async bin(program: string, args: string[], env: Record<string, string> = {}): Promise<string> {
    return this.#run(join(this.folder, 'node_modules', '.bin', program), args, env);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }

  async #run(program: string, args: string[], env: Record<string, string> = {}): Promise<string> {
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
