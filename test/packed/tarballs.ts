import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packedOnce } from '../../scripts/pack.mjs';
import { packCommand } from '../../scripts/pack-command.mjs';
import { packedManifest } from '../../scripts/tarball-checks.mjs';

interface Manifest {
  readonly name: string;
  readonly exports: Record<string, unknown>;
}

/** Every published package, packed as a release would, once for all tests. */
export interface Tarballs {
  readonly paths: readonly string[];
  /** Packs the file from which `npx` runs the command. */
  command(): string;
  /** The names that can be imported, for example `@sluice/core/http`. */
  readonly entryPoints: readonly string[];
  remove(): void;
}

/** What is packed for these tests alone goes into a folder that `remove` removes. */
export async function packedTarballs(): Promise<Tarballs> {
  const paths = await packedOnce();
  const folder = mkdtempSync(join(tmpdir(), 'sluice-tarballs-'));
  return {
    paths,
    command: () => packCommand(paths, folder),
    entryPoints: paths.flatMap(entryPointsOf),
    remove: () => rmSync(folder, { recursive: true }),
  };
}

function entryPointsOf(tarball: string): string[] {
  const { name, exports } = packedManifest(tarball) as Manifest;
  return Object.keys(exports)
    .filter((path) => !path.endsWith('.json'))
    .map((path) => name + path.slice(1));
}
