import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import type { Counted } from './counted.ts';

const file = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const FLAGS = ['--conditions=@sluice/source', '--import', file('../../redis/processes/typescript.mjs')];

/** The most that one request may do. Lower a figure when it falls, and do not raise it. */
export type Pins = Omit<Counted, 'functions'>;

/** Counts what a request does, and compares it with the pins. */
export async function expectPins(pins: Readonly<Record<string, Pins>>, ...args: readonly string[]): Promise<void> {
  const program = [...FLAGS, file('program.ts'), ...args];
  const { stdout } = await promisify(execFile)(process.execPath, program, { maxBuffer: 1e7 });
  const counted = JSON.parse(stdout) as Record<string, Counted>;
  expect(Object.keys(counted)).toEqual(Object.keys(pins));
  const above = Object.entries(pins).flatMap(([path, most]) => {
    const { functions, ...figures } = counted[path]!;
    const rose = Object.entries(most).filter(([name, figure]) => figures[name as keyof Pins] > figure);
    return rose.length === 0 ? [] : [{ path, figures, functions }];
  });
  expect(above).toEqual([]);
}
