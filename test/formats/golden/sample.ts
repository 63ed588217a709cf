import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The path of a sample. */
export function samplePath(name: string): string {
  return fileURLToPath(new URL(`samples/${name}`, import.meta.url));
}

export function sampleBytes(name: string): Buffer {
  return readFileSync(samplePath(name));
}

/** A sample of JSON. */
export function sampleValue(name: string): unknown {
  return JSON.parse(sampleBytes(name).toString());
}
