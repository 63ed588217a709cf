import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { accountId, ipAddress, ipv6RangeCIDR, SluiceError } from '@sluice/core';
import { loadLimits, type LimitKeys } from '@sluice/config';
import { onTestFinished } from 'vitest';

/** The limits of most tests, one of each format. */
export const LIMITS = `
NewRegistrationsPerIPAddress: { burst: 20, count: 20, period: 1s }
NewRegistrationsPerIPv6Range: { count: 500, period: 1s }
NewOrdersPerAccount: { burst: 300, count: 300, period: 180m }
`;

export const KEYS: LimitKeys = {
  NewRegistrationsPerIPAddress: ipAddress(),
  NewRegistrationsPerIPv6Range: ipv6RangeCIDR(),
  NewOrdersPerAccount: accountId(),
};

/** Creates a folder that is deleted after the test. */
export function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'sluice-config-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

interface Files {
  readonly limits?: string | Uint8Array;
  readonly overrides?: string | Uint8Array;
  /** The content of `ids.txt`. */
  readonly ids?: string;
}

/** Writes files into a new folder. Returns their paths and the folder. */
export function written(files: Files): {
  readonly dir: string;
  readonly defaults: string;
  readonly overrides: string;
} {
  const dir = folder();
  const [defaults, overrides] = [join(dir, 'limits.yaml'), join(dir, 'overrides.yaml')];
  writeFileSync(defaults, files.limits ?? LIMITS);
  if (files.overrides !== undefined) writeFileSync(overrides, files.overrides);
  if (files.ids !== undefined) writeFileSync(join(dir, 'ids.txt'), files.ids);
  return { dir, defaults, overrides };
}

/** Returns the problems of files, one per line, without the folder in their paths. */
export async function problemsOf(files: Files, keys: LimitKeys = KEYS): Promise<readonly string[]> {
  const { dir, defaults, overrides } = written(files);
  const sources = { defaults, ...(files.overrides !== undefined && { overrides }) };
  try {
    await loadLimits({ ...sources, keys });
    return [];
  } catch (error) {
    if (!(error instanceof SluiceError) || error.code !== 'ERR_LIMIT_FILES') throw error;
    return error.message.replaceAll(`${dir}/`, '').split('\n').slice(1);
  }
}
