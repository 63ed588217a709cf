import { inBatchTest, inBucketTest, inStreamTest, type Finder, type RuleMutant } from './rule-mutant.ts';

const RULES = 'test/property/lease-rules.test.ts';
const READINGS = 'test/property/lease-readings.test.ts';
const LESS = 'as if the lease had been smaller';

const inRuleTest = (named: string): Finder => ({ file: RULES, named });

/** What leases and views do over time: small tests find these, and the scenes would not. */
export const leaseMutants: readonly RuleMutant[] = [
  {
    name: 'a lease returns until the TAT after it',
    in: RULES,
    replace: 'leases.add(new Lease(granted, T, { sentTicks, leaseTicks }));',
    by: `const { tatTicks } = bucket;
        leases.add(Object.assign(new Lease(granted, T, { sentTicks, leaseTicks }), { returnableUntilTicks: tatTicks }));`,
    finder: inRuleTest(LESS),
  },
  {
    name: 'a lease returns all that is left of it',
    in: 'lease.ts',
    replace: 'this.returnableUntilTicks = sentTicks + tokens * intervalTicks;',
    by: 'this.returnableUntilTicks = Infinity;',
    finder: inRuleTest(LESS),
  },
  {
    name: 'a lease returns later what it could return when it lapsed',
    in: 'bucket-leases.ts',
    replace: 'lease.returnableTicks(latestTicks)',
    by: 'lease.returnableTicks(lease.lapseTicks)',
    finder: inRuleTest(LESS),
  },
  {
    name: 'a late report does not add up its own decisions',
    in: 'uncharged.ts',
    replace: 'this.ownTatTicks = Math.max(this.ownTatTicks, nowTicks) + incrementTicks;',
    by: 'this.ownTatTicks = nowTicks + incrementTicks;',
    finder: inRuleTest('a late report'),
  },
  {
    name: 'a lease lives five times as long',
    in: 'bucket-sync.ts',
    replace: 'leaseTicks: terms.leaseTicks }',
    by: 'leaseTicks: 5 * terms.leaseTicks }',
    finder: inBucketTest('until its life after the sending is over'),
  },
  {
    name: 'a merged lease loses its tokens',
    in: 'bucket-leases.ts',
    replace: '  into.tokens += lease.tokens;\n',
    by: '',
    finder: inBucketTest('at most four leases'),
  },
  {
    name: 'a merged lease lives as long as the newer one',
    in: 'bucket-leases.ts',
    replace: 'Math.min(into.lapseTicks, lease.lapseTicks)',
    by: 'Math.max(into.lapseTicks, lease.lapseTicks)',
    finder: inBucketTest('at most four leases'),
  },
  {
    name: 'leases are kept when the numbers change',
    in: 'leased-bucket.ts',
    replace: '    this.leases.dropAll(nowTicks);\n    this.terms',
    by: '    this.terms',
    finder: inBucketTest('when its numbers change'),
  },
  {
    name: 'a lease of other numbers is spent',
    in: 'bucket-sync.ts',
    replace: '    if (terms !== bucket.terms) bucket.leases.dropAll(nowTicks);\n',
    by: '',
    finder: inBucketTest('asked for with other numbers'),
  },
  {
    name: 'a lease is returned after the TAT was lowered',
    in: 'bucket-sync.ts',
    replace: '  if (!synced.keptFloor) leases.forbidReturns();\n',
    by: '',
    finder: inStreamTest('gives nothing back after somebody has lowered the TAT'),
  },
  {
    name: 'a new view lacks what was let through meanwhile',
    in: 'bucket-sync.ts',
    replace: 'Math.max(bucket.viewTicks + uncharged.chargeTicks, uncharged.ownTatTicks)',
    by: 'bucket.viewTicks',
    finder: inBucketTest('adds to its view'),
  },
  {
    name: 'what refills in a bucket that is used up is leased in advance',
    in: 'bucket-sync.ts',
    replace: 'const MOST_OF_REST = 0.25;',
    by: 'const MOST_OF_REST = Infinity;',
    finder: inStreamTest('a quarter of what is left'),
  },
  {
    name: 'a slow bucket is denied by a view that lacks what others took',
    in: 'leased-bucket.ts',
    replace: 'return this.viewAtTicks - this.steadySinceTicks >=',
    by: 'return true || this.viewAtTicks - this.steadySinceTicks >=',
    finder: inBucketTest('only after its TAT was the same'),
  },
  {
    name: 'a TAT that has changed counts as steady',
    in: 'bucket-sync.ts',
    replace: 'if (floorTicks > bucket.steadyFloorTicks + reportTicks) bucket',
    by: 'if (bucket.floorTicks === 0) bucket',
    finder: inBucketTest('only after its TAT was the same'),
  },
  {
    name: 'slow buckets are reported as late as others',
    in: 'leased-bucket.ts',
    replace: '    if (this.reportsSoon) return settleTicks;\n',
    by: '',
    finder: inBucketTest('reports what it let through within that time'),
  },
  {
    name: 'a bucket that was to be reported late is not reported sooner when it has let through much',
    in: 'lease-stream.ts',
    replace: 'if (bucket.reportsSoon) this',
    by: 'if (false) this',
    finder: inBucketTest('as soon as it has let through more than its part'),
  },
  {
    name: 'a bucket that is used at its rate is never settled for long',
    in: 'bucket-sync.ts',
    replace: ' && nowTicks - bucket.steadySinceTicks < settleTicks',
    by: '',
    finder: inBucketTest('while it is used at its rate'),
  },
  {
    name: 'a bucket that was just used is settled by an earlier view',
    in: 'leased-bucket.ts',
    replace: 'if (this.#isMuch(this.uncharged.totalTicks)) return false;',
    by: '',
    finder: inBucketTest('while it has let through more itself'),
  },
  {
    name: 'a denial that can not wait for reports leaves out what they may say',
    in: 'leased-bucket.ts',
    replace: 'this.#isSettled ? this.terms.reportTicks : this.#othersOverdraftTicks',
    by: 'this.terms.reportTicks',
    finder: inBucketTest('adds what others may not have reported'),
  },
  {
    name: 'a wait in vain for a full bucket says nothing of its level',
    in: 'waiting-batches.ts',
    replace: 'bucket.waitOfDenial(tokens, nowTicks)',
    by: 'bucket.terms.dueTicks',
    finder: inBatchTest('for as long as their bucket is full'),
  },
  {
    name: 'large costs are leased',
    in: 'leased-bucket.ts',
    replace: '2 * tokens > this.terms.overdraftTokens',
    by: 'tokens > this.terms.burst',
    finder: inBucketTest('leaves costs above half'),
  },
  {
    name: 'a late Redis is waited for',
    in: 'leased-bucket.ts',
    replace: '    if (this.isTooSlow) return EXACT;\n',
    by: '',
    finder: inBucketTest('while calls take longer'),
  },
  {
    name: 'large costs make a process lease tokens',
    in: 'decide.ts',
    replace: ' && !bucket.isLarge(tokens)',
    by: '',
    finder: inBatchTest('is left to Redis for a large cost'),
  },
  {
    name: 'a request that has waited in vain is denied',
    in: 'waiting-batches.ts',
    replace: 'if (unanswered.length === 0) return denied',
    by: 'return denied',
    finder: inBatchTest('follow the policy'),
  },
  {
    name: 'the reading of a denial is that of the view',
    in: 'decide.ts',
    replace: 'conclude(each, waitOf(each, retryTicks, nowTicks), nowTicks)',
    by: 'conclude(each, 0, nowTicks)',
    finder: { file: READINGS, named: 'however late it is made' },
  },
  {
    name: 'the reading of a wait in vain is that of the view',
    in: 'waiting-batches.ts',
    replace: 'conclude(each, waitTicks, nowTicks)',
    by: 'conclude(each, 0, nowTicks)',
    finder: { file: READINGS, named: 'however late it is made' },
  },
  {
    name: 'local: the rest of the outage is not charged',
    in: 'local-outage.ts',
    replace: '    if (restTicks > 0) uncharged.add(restTicks, nowTicks);\n',
    by: '',
    finder: inBucketTest('is charged after the first answer'),
  },
  {
    name: 'local: tokens are leased at once after it',
    in: 'bucket-sync.ts',
    replace:
      "  if (terms.onFailure === 'local' && nowTicks < Math.max(calmUntilTicks, bucket.calmUntilTicks)) return 0;\n",
    by: '',
    finder: inBucketTest('nothing is leased for two syncs'),
  },
];
