import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** Returns the text of a bundle of a program of this folder. It fails if any module imports one of Node. */
export async function bundled(program: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(program, import.meta.url))],
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'bundle',
    platform: 'browser',
    conditions: ['@sluice/source'],
    target: 'es2022',
    logLevel: 'silent',
  });
  return outputFiles[0]!.text;
}
