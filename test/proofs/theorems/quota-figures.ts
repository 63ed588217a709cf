import { all, any, implies } from '../engine/logic.ts';
import type { Part } from '../engine/theorem.ts';
import { decisionFrom, QuotaGate, quotaAsk, rateAsk } from '../subjects/quotas.ts';
import { MODES } from '../subjects/rule.ts';
import { StalePeriodError } from '../subjects/stores.ts';
import { COST, IN_MEMORY, NEXT, OF_CALENDARS, QuotaBucket, THIS } from './quota-bucket.ts';
import { quotaReports } from './quota-reports.ts';

const LEFT = 'packages/core/src/decision/period-left.ts';
const NAMED = 'packages/core/src/kinds/quota/named-periods.ts';
const DECIDE = 'packages/core/src/decision/decide.ts';
const RESULTS = 'packages/core/src/decision/results.ts';
const PERIODS = 'packages/core/src/store/server-periods.ts';
const MICROS = { min: 0, max: 999 };
const CALLS = [['check', 'check-and-spend'], ...MODES.map((mode) => ['spend', mode] as const)] as const;

/** What decisions about quotas say. */
export const quotaFigures: Part = {
  title: 'The figures of quotas',
  about: 'The figures of a quota in a decision: from the reading of a store, in a period with unknown ends.',
  theorems: [
    {
      name: 'quota-figures',
      words:
        '`remaining` is what is left of the count, or of the share. The waits last until the next period begins, or are 0. `periodMs` is the length of the current period.',
      formula: 'remaining = max(0, count − used), retryAfterMs = end − now',
      sources: [LEFT, NAMED, DECIDE, RESULTS, ...IN_MEMORY],
      assumes: [OF_CALENDARS],
      run(t) {
        const quota = new QuotaBucket(t, ['never used', 'used in this period']);
        const gate = new QuotaGate();
        const [call, mode] = t.choice('call', CALLS);
        const period = quota.periodOfCaller();
        const now = quota.goTo(THIS);
        gate.setWall(now);
        const count = quota.tokens('count');
        const fit = t.int('count of its share', COST);
        const cost = t.int('cost', COST);
        t.assume(all(fit <= count, cost <= count));
        const { used, most, starts } = quota;
        const ask = { cost: used, count: most, mode: 'charge', period } as const;
        const state = used === 0 ? undefined : gate.charge(quotaAsk(ask));
        const left = starts[2]! - now;
        if (state !== undefined) {
          t.claim('left after a charge', state.remaining === most - used);
          t.claim('full at the end', all(state.resetAfterMs === left, state.periodMs === starts[2]! - starts[1]!));
        }
        const decision = gate[call]([quotaAsk({ count, cost, mode, fit, period })]);
        const [result] = decision.results as [(typeof decision.results)[number]];
        const fits = any(used + cost <= fit, cost === 0);
        const takes = all(call === 'spend', mode !== 'check-only');
        const charged = mode === 'charge' ? Math.max(used, Math.min(used + cost, count)) : used;
        const after = all(takes, mode !== 'charge', fits) ? used + cost : takes ? charged : used;
        t.tell('allowed', decision.allowed);
        t.tell('remaining', decision.remaining);
        t.tell('retryAfterMs', decision.retryAfterMs);
        t.tell('resetAfterMs', decision.resetAfterMs);
        t.claim('only checks deny', decision.allowed === any(fits, mode === 'spend-only', mode === 'charge'));
        t.claim('what is left of the share', decision.remaining === Math.max(0, fit - after));
        t.claim('no wait if allowed', decision.retryAfterMs === (decision.allowed ? 0 : left));
        t.claim('full when the next period begins', decision.resetAfterMs === (after === 0 ? 0 : left));
        t.claim('the length of the period', result.periodMs === starts[2]! - starts[1]!);
        t.claim('what was spent', result.spent === after - used);
        t.claim(
          'the result is that of the decision',
          all(result.remaining === decision.remaining, result.resetAfterMs === decision.resetAfterMs),
        );
        t.claim('so is its wait', implies(!decision.allowed, result.retryAfterMs === left));
      },
    },
    {
      name: 'quota-wait',
      words:
        'After the wait that a denial reports, the same request is allowed. It is so by the clock of Redis, which reads microseconds, and by that of the memory store, which reads milliseconds. One millisecond earlier it is denied.',
      sources: [LEFT, NAMED, PERIODS, DECIDE, 'packages/redis/lua/decide.lua', ...IN_MEMORY],
      assumes: [OF_CALENDARS],
      run(t) {
        const quota = new QuotaBucket(t, ['used in this period']);
        const { both, starts } = quota;
        const store = t.choice('store', ['memory', 'Redis'] as const);
        const cost = quota.tokens('cost');
        const ask = quotaAsk({ cost, count: quota.most, mode: 'check-and-spend', period: quota.periodFrom(THIS) });
        const decided = (ms: number, micros: number) => {
          both.setWall(ms, micros);
          const reading = store === 'memory' ? both.memoryAnswer('spend', [ask]) : both.scriptAnswer('spend', [ask]);
          if (reading instanceof StalePeriodError) throw reading;
          return decisionFrom([ask], reading);
        };
        const now = quota.goTo(THIS);
        const micros = store === 'memory' ? 0 : t.int('µs above them', MICROS);
        const denied = decided(now, micros);
        t.assume(!denied.allowed);
        const { retryAfterMs } = denied;
        t.tell('retryAfterMs', retryAfterMs);
        t.claim('in whole milliseconds to the end', retryAfterMs === starts[NEXT]! - now);
        t.claim('not earlier', !decided(now + retryAfterMs - 1, micros).allowed);
        const then = decided(now + retryAfterMs, micros);
        t.claim('after the wait it is allowed', then.allowed);
        t.claim('from a full quota', then.remaining === quota.most - cost);
      },
    },
    {
      name: 'quota-beside-rate-figures',
      words:
        'A decision on a rate and a quota: its wait is the longest of those that deny. So both have room after it, and each result says what its own limit has left.',
      sources: [LEFT, NAMED, DECIDE, RESULTS, 'packages/core/src/decision/strictness.ts', ...IN_MEMORY],
      assumes: [OF_CALENDARS, 'The rate is 7 per second, of which some tokens were just taken.'],
      run(t) {
        const quota = new QuotaBucket(t, ['never used']);
        const gate = new QuotaGate();
        const now = quota.goTo(THIS);
        gate.setWall(now);
        const period = quota.periodFrom(THIS);
        const used = quota.tokens('used of the quota');
        const [taken, cost] = [t.int('taken from the rate', { min: 1, max: 7 }), t.int('cost', { min: 1, max: 7 })];
        t.assume(cost <= quota.most);
        const ask = (tokens: number) => quotaAsk({ cost: tokens, count: quota.most, mode: 'check-and-spend', period });
        gate.spend([rateAsk(taken), ask(used)]);
        const decision = gate.spend([rateAsk(cost), ask(cost)]);
        const [rate, own] = decision.results as [(typeof decision.results)[number], (typeof decision.results)[number]];
        const [rateFits, quotaFits] = [taken + cost <= 7, used + cost <= quota.most];
        const allowed = all(rateFits, quotaFits);
        const [rateLeft, quotaLeft] = [7 - taken, quota.most - used];
        const untilEnd = quota.starts[NEXT]! - now;
        t.tell('allowed', decision.allowed);
        t.tell('retryAfterMs', decision.retryAfterMs);
        t.claim('both have to fit', decision.allowed === allowed);
        t.claim('each says if it fits', all(rate.allowed === rateFits, own.allowed === quotaFits));
        const tokens = decision.allowed ? cost : 0;
        t.claim('left of the rate', rate.remaining === rateLeft - tokens);
        t.claim('left of the quota', own.remaining === quotaLeft - tokens);
        t.claim(
          'the quota waits for its end',
          any(all(own.allowed, own.retryAfterMs === 0), own.retryAfterMs === untilEnd),
        );
        const waits = [rate.retryAfterMs, own.retryAfterMs] as const;
        t.claim('no shorter wait', all(decision.retryAfterMs >= waits[0], decision.retryAfterMs >= waits[1]));
        t.claim('nor a longer one', any(decision.retryAfterMs === waits[0], decision.retryAfterMs === waits[1]));
        t.claim('named is the quota', implies(own.retryAfterMs > rate.retryAfterMs, decision.limit === 'Quota'));
        t.claim('or the rate', implies(rate.retryAfterMs > own.retryAfterMs, decision.limit === 'Rate'));
      },
    },
    ...quotaReports,
  ],
};
