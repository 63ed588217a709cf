import { inBucketTest, inScenes, STRICT_MODEL, SYNC_MODEL, type RuleMutant } from './rule-mutant.ts';

/** The rules of the bound. Each of these changes lets more through than the bound allows. */
export const boundMutants: readonly RuleMutant[] = [
  {
    name: 'the overdraft has no limit',
    in: 'leased-bucket.ts',
    replace: 'return this.uncharged.totalTicks + increment <= this.terms.overdraftTicks;',
    by: 'return true;',
    finder: inScenes('calm', 200),
  },
  {
    name: 'a cost is compared with the overdraft as one token',
    in: 'leased-bucket.ts',
    replace: 'this.uncharged.totalTicks + increment <= this.terms.overdraftTicks',
    by: 'this.uncharged.totalTicks + this.terms.intervalTicks <= this.terms.overdraftTicks',
    finder: inScenes('calm', 200),
  },
  {
    name: 'what is in flight does not count as overdraft',
    in: 'leased-bucket.ts',
    replace: 'return this.uncharged.totalTicks + increment',
    by: 'return this.uncharged.chargeTicks + increment',
    // One of 400 scenes finds it.
    finder: inBucketTest('nothing more before Redis has counted it'),
  },
  {
    name: 'what does not fit the view is not denied',
    in: 'leased-bucket.ts',
    replace: 'if (wait > 0) return this',
    by: 'if (wait > Infinity) return this',
    finder: inScenes('calm', 200),
  },
  {
    name: 'Redis charges half of each lease',
    in: SYNC_MODEL,
    replace: 'level = base + grantedTokens * intervalTicks;',
    by: 'level = base + Math.floor(grantedTokens / 2) * intervalTicks;',
    finder: inScenes('calm', 200),
  },
  {
    name: 'charges are dropped when a sync fails',
    in: 'lease-stream.ts',
    replace: '    this.#failures++;\n',
    by: '    this.#failures++;\n    for (const { bucket } of this.#sent.buckets) bucket.uncharged.sentCounted();\n',
    finder: inScenes('faults', 400),
  },
  {
    name: 'charges are dropped when the slot of a sync moves',
    in: 'lease-stream.ts',
    replace: '    this.isMoving = true;\n',
    by: '    this.isMoving = true;\n    for (const { bucket } of this.#sent.buckets) bucket.uncharged.sentCounted();\n',
    finder: inScenes('moves', 1500),
  },
  {
    name: 'buckets are forgotten however full they are',
    in: 'leased-bucket.ts',
    replace: '      this.#isFarFromFull(nowTicks) &&\n',
    by: '',
    finder: inScenes('calm', 400),
  },
  {
    name: 'Redis cuts at the burst for processes without leases',
    in: STRICT_MODEL,
    replace: 'const readings = batch.map(({ key, mode, fitTicks, capTicks }) => {',
    by: `for (const { key, fitTicks } of batch) {
      const stored = this.bucket(key);
      if (stored !== undefined && stored.tatTicks - this.#data.nowTicks > fitTicks) this.#data.write(key, fitTicks);
    }
    const readings = batch.map(({ key, mode, fitTicks, capTicks }) => {`,
    finder: inScenes('strict', 200),
  },
  {
    name: 'a sync cuts at the burst of its process at once',
    in: SYNC_MODEL,
    replace: '  let level = reading.levelTicks;\n',
    by: '  let level = Math.min(reading.levelTicks, fitTicks);\n',
    finder: inScenes('changes', 400),
  },
];

/** What the policy `local` does in an outage and after it. Few scenes find these: one in a hundred. */
export const outageMutants: readonly RuleMutant[] = [
  {
    name: 'local: the view is not followed',
    in: 'leased-bucket.ts',
    replace: 'Math.max(this.#waitByView(increment, nowTicks), this.#waitInOutage(increment, nowTicks))',
    by: 'this.#waitInOutage(increment, nowTicks)',
    // Scenes do not find it: they keep to the bound without the view.
    finder: inBucketTest('a local limit still denies what its view denies'),
  },
  {
    name: 'local: each process uses the whole rate',
    in: 'local-outage.ts',
    replace: 'this.#tatTicks = Math.max(this.#tatTicks, nowTicks) + incrementTicks * this.#gateways;',
    by: 'this.#tatTicks = Math.max(this.#tatTicks, nowTicks) + incrementTicks;',
    finder: inScenes('local', 1000),
  },
  {
    name: 'local: what was let through is not charged',
    in: 'bucket-sync.ts',
    replace: '  bucket.outage.settle(uncharged, { nowTicks, viewTicks, fellTicks });\n',
    by: '',
    finder: inScenes('local', 1000),
  },
];
