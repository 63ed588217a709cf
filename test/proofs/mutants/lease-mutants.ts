import type { Mutant } from './mutant.ts';

const SYNC = 'packages/redis/lua/sync.lua';
const ENCODING = 'packages/redis/src/leases/sync-script.ts';
const RULES = 'packages/redis/src/leases/rules/';
const UNCHARGED = `${RULES}uncharged.ts`;
const BUCKET = `${RULES}leased-bucket.ts`;
const HELD = `${RULES}bucket-leases.ts`;
const LEASE = `${RULES}lease.ts`;
const NUMBERS = `${RULES}lease-numbers.ts`;

/** Leases. */
export const leaseMutants: readonly Mutant[] = [
  {
    in: SYNC,
    replace: 'min(max(level + charge, own), cap)',
    by: 'min(level + charge, cap)',
    about: 'time that has passed refills what was taken later',
  },
  {
    in: SYNC,
    replace: 'min(max(level + charge, own), cap)',
    by: 'max(level + charge, own)',
    about: 'a charge without a cap',
  },
  {
    in: SYNC,
    replace: 'local is_new, is_lost = sequence > stored,',
    by: 'local is_new, is_lost = sequence >= stored,',
    about: 'a repeated sync charges twice',
  },
  { in: SYNC, replace: 'stored < args[3] + 0', by: 'false', about: 'a loss is not noticed' },
  { in: SYNC, replace: 'if is_lost or want % 2 == 1 then', by: 'if true then', about: 'floors undo resets' },
  {
    in: SYNC,
    replace: 'level = max(level, min(floor_level, cap))',
    by: 'level = min(floor_level, cap)',
    about: 'a loss lowers levels',
  },
  { in: SYNC, replace: 'if in_time and kept and level > 0 then', by: 'if level > 0 then', about: 'late returns' },
  { in: SYNC, replace: 'max(level - returned, 0)', by: 'level - 2 * returned', about: 'returns count twice' },
  { in: SYNC, replace: 'if in_time and want > 1 then', by: 'if want > 1 then', about: 'late leases' },
  {
    in: SYNC,
    replace: 'floor((fit - base) / interval)',
    by: 'ceil((fit - base) / interval)',
    about: 'a lease above the limit',
  },
  { in: SYNC, replace: 'level = base + granted * interval', by: 'level = level', about: 'leases are not charged' },
  {
    in: SYNC,
    replace: 'local base = max(level, 0)',
    by: 'local base = level',
    about: 'leases from a TAT that has passed',
  },
  {
    in: SYNC,
    replace: 'ceil(level / TICKS_PER_MS) + SLACK_MS',
    by: 'floor(level / TICKS_PER_MS)',
    about: 'keys die before their TAT',
  },
  {
    in: SYNC,
    replace: '16 * exponent - 32 + ceil(32 * fraction)',
    by: '16 * exponent - 32 + floor(32 * fraction)',
    about: 'the written level is rounded down',
  },
  {
    in: ENCODING,
    replace: '2 * entry.wantedTokens + (entry.lost ? 1 : 0)',
    by: 'entry.wantedTokens',
    about: 'half of what is wanted',
  },
  {
    in: UNCHARGED,
    replace: 'Math.max(this.ownTatTicks, nowTicks) + incrementTicks',
    by: 'nowTicks + incrementTicks',
    about: 'only the last increment counts',
  },
  {
    in: UNCHARGED,
    replace: 'this.chargeTicks += incrementTicks;',
    by: 'this.chargeTicks = incrementTicks;',
    about: 'increments are forgotten',
  },
  {
    in: UNCHARGED,
    replace: 'return this.chargeTicks + this.sentChargeTicks;',
    by: 'return this.chargeTicks;',
    about: 'what is on its way does not count',
  },
  {
    in: BUCKET,
    replace: 'this.uncharged.totalTicks + increment <= this.terms.overdraftTicks',
    by: 'this.uncharged.totalTicks <= this.terms.overdraftTicks',
    about: 'more than the overdraft',
  },
  {
    in: BUCKET,
    replace: 'const lacking = tokens - this.leases.tokens;',
    by: 'const lacking = 1 + tokens - 1 - 2 * this.leases.tokens;',
    about: 'leases are spent twice',
  },
  {
    in: BUCKET,
    replace: 'this.tatTicks = Math.max(this.tatTicks, nowTicks) + increment;\n    this.uncharged',
    by: 'this.tatTicks = nowTicks + increment;\n    this.uncharged',
    about: 'the view forgets the debt',
  },
  { in: HELD, replace: '      oldest.tokens -= tokens;\n', by: '', about: 'a lease is spent twice' },
  {
    in: HELD,
    replace: 'if (part.lease?.isLive !== true) continue;',
    by: 'if (part.lease === undefined) continue;',
    about: 'refunds revive leases',
  },
  {
    in: HELD,
    replace: 'if (lease.lapseTicks <= lapseTicks) this.#drop(lease, nowTicks);',
    by: 'if (lease.lapseTicks < lapseTicks) this.#drop(lease, nowTicks);',
    about: 'a lease that has lapsed gets a refund',
  },
  {
    in: LEASE,
    replace: 'this.returnableUntilTicks = sentTicks + tokens * intervalTicks;',
    by: 'this.returnableUntilTicks = Infinity;',
    about: 'lapsed leases are given back whole',
  },
  {
    in: LEASE,
    replace: 'Math.min(this.tokens * this.intervalTicks, this.returnableUntilTicks - atTicks)',
    by: 'this.returnableUntilTicks - atTicks',
    about: 'spent tokens are given back',
  },
  {
    in: NUMBERS,
    replace: 'Math.min(burst, Math.floor(restTicks / (gateways * intervalTicks)))',
    by: 'Math.min(burst, Math.ceil(restTicks / (gateways * intervalTicks)))',
    about: 'overdrafts beyond the overshoot',
  },
  {
    in: NUMBERS,
    replace: 'gateways * overdraftTokens + Math.ceil(leaseTicks / intervalTicks)',
    by: 'gateways * overdraftTokens',
    about: 'the bound forgets the leases',
  },
  {
    in: NUMBERS,
    replace: 'fitTicks + gateways * overdraftTicks + leaseTicks',
    by: 'fitTicks',
    about: 'a cap that forgives overdrafts',
  },
  {
    in: BUCKET,
    replace: 'if (this.#fitsOverdraft(increment)) return FITS;',
    by: '',
    about: 'a process refuses all that its leases do not pay',
    first: 'overdraft',
  },
  {
    in: BUCKET,
    replace: 'this.retryTicks = this.#waitOfDenial(waitTicks);',
    by: 'this.retryTicks = 0;',
    about: 'a denial has no wait',
    first: 'overdraft',
  },
  {
    in: BUCKET,
    replace: 'if (this.isLarge(tokens)) return EXACT;',
    by: 'return EXACT;',
    about: 'everything is left to Redis',
    first: 'overdraft',
  },
  {
    in: NUMBERS,
    replace: 'if (allowedTokens < gateways) {',
    by: 'if (allowedTokens < 2 * gateways) {',
    about: 'limits are decided strictly without need',
    first: 'lease-numbers',
  },
  {
    in: NUMBERS,
    replace: 'if (numbers.capTicks > MAX_TOLERANCE_TICKS)',
    by: 'if (numbers.capTicks > 0)',
    about: 'no limit is leased',
    first: 'lease-numbers',
  },
];
