import { inBatchTest, inBucketsTest, inRecoveryTest, inStreamTest, MODEL, type RuleMutant } from './rule-mutant.ts';

/** What syncs and their streams do. */
export const streamMutants: readonly RuleMutant[] = [
  {
    name: 'floors always count',
    in: 'bucket-sync.ts',
    replace: 'lost: viewSequence < lossSequence,',
    by: 'lost: true,',
    finder: inRecoveryTest('a client gets its burst again'),
  },
  {
    name: 'a denied bucket is not read again',
    in: 'decide.ts',
    replace: '    bucket.touch(nowTicks);\n',
    by: '',
    finder: inRecoveryTest('a gateway that denies has a new view'),
  },
  {
    name: 'a sync that was due during another one is skipped',
    in: 'lease-stream.ts',
    replace: '    this.#answeredSequence = call.sequence;\n',
    by: `    this.#answeredSequence = call.sequence;
    if (this.#dueTicks <= nowTicks) this.#dueTicks = nowTicks + this.#syncTicks;\n`,
    finder: inStreamTest('makes up for what was due meanwhile'),
  },
  {
    name: 'floors never count',
    in: MODEL,
    replace: 'if (lost || entry.lost) level',
    by: 'if (level === Infinity) level',
    finder: inRecoveryTest('when Redis loses all data'),
  },
  {
    name: 'a loss restores the buckets of its sync only',
    in: 'lease-stream.ts',
    replace: '    if (reply.lost) this.#lossSequence = call.sequence;\n',
    by: '',
    finder: inStreamTest('restores the views that are older'),
  },
  {
    name: 'an old answer proves a loss',
    in: 'lease-stream.ts',
    replace: 'answeredSequence: isSure ? this.#answeredSequence : 0',
    by: 'answeredSequence: isSure ? this.#answeredSequence : this.#answeredSequence',
    finder: inStreamTest('answered too long ago'),
  },
  {
    name: 'a repeated sync wants leases again',
    in: 'bucket-sync.ts',
    replace: 'entryOf(bucket, sending, { returnTicks: 0, wantedTokens: 0 })',
    by: 'entryOf(bucket, sending, { returnTicks: 0, wantedTokens: wantedTokens(bucket, sending) })',
    finder: inStreamTest('is repeated with its number'),
  },
  {
    name: 'a late answer is applied',
    in: 'lease-stream.ts',
    replace: 'if (sent?.call !== call || !this.#isInFlight) return;',
    by: 'if (sent === undefined) return;',
    finder: inStreamTest('is not answered any more'),
  },
  {
    name: 'two calls are in flight',
    in: 'lease-stream.ts',
    replace: '    if (this.#isInFlight) return Infinity;\n',
    by: '',
    finder: inStreamTest('has one call in flight'),
  },
  {
    name: 'early syncs follow each other at once',
    in: 'lease-stream.ts',
    replace: 'Math.max(wanted, this.#sentTicks + MIN_SYNC_GAP_TICKS)',
    by: 'wanted',
    finder: inStreamTest('not more often than every 5 ms'),
  },
  {
    name: 'leases of a bucket that nobody uses are not returned',
    in: 'lease-stream.ts',
    replace: '!each.bucket.leases.isEmpty || ',
    by: '',
    finder: inStreamTest('gives back what is left of a lease'),
  },
  {
    name: 'an unused stream is not kept alive',
    in: 'lease-stream.ts',
    replace: 'return this.buckets.some((bucket) => bucket.tatTicks > nowTicks);',
    by: 'return false;',
    finder: inStreamTest('keeps itself alive'),
  },
  {
    name: 'buckets at rest are never dropped',
    in: 'leased-buckets.ts',
    replace: 'bucket.isAtRest(nowTicks)',
    by: 'bucket.isAtRest(-Infinity)',
    finder: inBucketsTest('make room for new ones'),
  },
];

/** What batches of several buckets do, and those that wait. */
export const batchMutants: readonly RuleMutant[] = [
  {
    name: 'a batch that waits or is denied keeps a part',
    in: 'decide.ts',
    replace: '    if (look > strictest) strictest = look;\n',
    by: '    if (look > strictest) strictest = look;\n    if (look === FITS) bucket.spend(tokens, nowTicks);\n',
    finder: inBatchTest('takes from all its buckets or from none'),
  },
  {
    name: 'the last batch that waits is decided first',
    in: 'waiting-batches.ts',
    replace: '    for (const each of waiting) {\n',
    by: '    for (const each of waiting.toReversed()) {\n',
    finder: inBatchTest('in the order in which they came'),
  },
  {
    name: 'the tokens of a batch that was decided are still waited for',
    in: 'waiting-batches.ts',
    replace: '  endWait(each);\n',
    by: '',
    finder: inBatchTest('in the order in which they came'),
  },
  {
    name: 'a bucket of a waiting batch is forgotten',
    in: 'leased-bucket.ts',
    replace: '      this.usedByWaiting === 0 &&\n',
    by: '',
    finder: inBatchTest('keep all their buckets'),
  },
  {
    name: 'a bucket that a batch has just asked for is forgotten',
    in: 'leased-bucket.ts',
    replace: '      nowTicks - this.usedAtTicks > this.terms.syncTicks &&\n',
    by: '',
    finder: inBucketsTest('while a batch that has asked for them'),
  },
];
