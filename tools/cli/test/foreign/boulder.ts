import { createLimiter } from '@sluice/core';
import { loadWithoutKeys } from '@sluice/config';
import { moreFormats } from '../../src/limits/files.ts';
import type { ForeignFile } from './files.ts';

/** What came of a file of Boulder. */
export interface BoulderOutcome {
  readonly outcome: 'whole' | 'refused';
  /** The reason. */
  readonly said: string;
  /** How many ids and limits have the numbers of the file. */
  readonly asked: number;
  /** Those that have not. */
  readonly different: readonly unknown[];
}

interface Numbers {
  readonly burst: number;
  readonly count: number;
  readonly period: string;
}

type Override = Numbers & { readonly ids: readonly { readonly id: string | number }[] };

/** The limits of Boulder, each with an id that no file lists. */
const LIMITS: Readonly<Record<string, { readonly idFormat: string; readonly id: string }>> = {
  NewRegistrationsPerIPAddress: { idFormat: 'ipAddress', id: '192.0.2.77' },
  NewRegistrationsPerIPv6Range: { idFormat: 'ipv6RangeCIDR', id: '2001:db8:77::/48' },
  NewOrdersPerAccount: { idFormat: 'regId', id: '77' },
  FailedAuthorizationsPerDomainPerAccount: { idFormat: 'regId:by', id: '77:example.test' },
  FailedAuthorizationsForPausingPerDomainPerAccount: { idFormat: 'regId:by', id: '77:example.test' },
  CertificatesPerDomain: { idFormat: 'domain', id: 'example77.org' },
  CertificatesPerDomainPerAccount: { idFormat: 'regId:domain', id: '77:example.org' },
  CertificatesPerFQDNSet: { idFormat: 'fqdnSet', id: 'a.example,b.example' },
  LimitOverrideRequestsPerIPAddress: { idFormat: 'ipAddress', id: '192.0.2.77' },
};
const OWN: Numbers = { burst: 3, count: 2, period: '1s' };

/** Loads a file, and looks for the numbers of each id of it. */
export async function boulderOutcome(file: ForeignFile): Promise<BoulderOutcome> {
  const { kind, text } = file;
  const named = file.documents[0] as Readonly<Record<string, Numbers>>;
  const formats = Object.entries(LIMITS).map(([name, { idFormat }]) => [name, { ...OWN, idFormat }]);
  const defaults = kind === 'limits' ? withFormats(text) : JSON.stringify(Object.fromEntries(formats));
  try {
    const sources = { defaults: () => defaults, ...(kind === 'overrides' && { overrides: () => text }) };
    const limiter = createLimiter(await loadWithoutKeys({ ...sources, formats: moreFormats() }));
    const wanted = kind === 'limits' ? Object.entries(named).map(limitOf) : overriddenIn(file);
    const found = wanted.map(async ({ limit, id, numbers }) => {
      const [result] = (await limiter.check([{ limit, id }])).results;
      const is = { burst: result!.burst, count: result!.count, periodMs: result!.periodMs };
      const was = { burst: numbers.burst, count: numbers.count, periodMs: millisOf(numbers.period) };
      return JSON.stringify(is) === JSON.stringify(was) ? [] : [{ limit, id, is, was }];
    });
    return { outcome: 'whole', said: '', asked: wanted.length, different: (await Promise.all(found)).flat() };
  } catch (error) {
    return { outcome: 'refused', said: (error as Error).message, asked: 0, different: [] };
  }
}

/** A file without the field of ours, by which ids are read without code. */
function withFormats(text: string): string {
  return text.replaceAll(/^(\w+):$/gm, (line, name: string) => {
    const format = LIMITS[name]?.idFormat;
    return format === undefined ? line : `${line}\n  idFormat: ${format}`;
  });
}

function limitOf([limit, numbers]: [string, Numbers]) {
  return { limit, id: LIMITS[limit]?.id ?? '', numbers };
}

/** An override of an account is for each domain of it. */
function overriddenIn({ documents }: ForeignFile) {
  return (documents[0] as readonly Readonly<Record<string, Override>>[]).flatMap((entry) =>
    Object.entries(entry).flatMap(([limit, numbers]) =>
      numbers.ids.flatMap(({ id }) => {
        const isOfAccount = LIMITS[limit]?.idFormat.startsWith('regId:') === true;
        const ids = isOfAccount ? [`${id}:example.com`, `${id}:example.org`] : [String(id)];
        return ids.map((each) => ({ limit, id: each, numbers }));
      }),
    ),
  );
}

const MILLIS = { s: 1000, m: 60_000, h: 3_600_000 } as const;

function millisOf(period: string): number {
  return Number.parseInt(period, 10) * MILLIS[period.at(-1) as keyof typeof MILLIS];
}
