import { OPERATOR_VERSION, type OperatorCall } from '../limits/served-at.ts';
import { recordIn } from '../limits/records.ts';

type Fields = Readonly<Record<string, unknown>>;

const MAX_COST = 1_000_000_000_000;
const BUCKET_CALLS: ReadonlySet<unknown> = new Set(['look', 'charge', 'refund', 'reset']);
const BLOCK_CALLS: ReadonlySet<unknown> = new Set(['name', 'block', 'unblock', 'blocked']);

/** Returns a call; what is wrong if it is none. */
export function callOf(request: unknown): OperatorCall | string {
  const call = (request ?? {}) as Fields;
  if (call['version'] !== 1 && call['version'] !== OPERATOR_VERSION)
    return `The service answers calls up to version ${OPERATOR_VERSION}. Use the same version of sluice on both sides.`;
  return isWellFormed(call) ? (call as unknown as OperatorCall) : 'The call is malformed.';
}

function isWellFormed({ version, what, record, limit, id, cost, entry }: Fields): boolean {
  if (version !== 1) return BLOCK_CALLS.has(what) && isEntry(entry, what === 'blocked' ? { limit: '', id: '' } : {});
  if (what === 'record') return typeof record === 'string' && (record === '' || recordIn(record) !== undefined);
  const isCost = Number.isSafeInteger(cost) && (cost as number) >= 1 && (cost as number) <= MAX_COST;
  return BUCKET_CALLS.has(what) && isCost && isEntry({ limit, id });
}

/** Whether it names a bucket, or may do without. The limiter validates the rest of it. */
function isEntry(value: unknown, unset: Fields = {}): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { limit, id } = { ...unset, ...value } as Fields;
  return typeof limit === 'string' && typeof id === 'string';
}
