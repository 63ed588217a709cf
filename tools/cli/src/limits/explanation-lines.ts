import { durationText } from '../console/number-text.ts';
import type { BorrowFacts, Explanation, RateFacts } from './explanation.ts';
import { shownId } from './shown-id.ts';
import { numbersText, type Numbers } from './limit-kind.ts';

/** Returns an explanation as lines for people. */
export function explanationLines(explanation: Explanation): string[] {
  const { limit, id, kind, features, rate, borrow, slots, period, numbers } = explanation;
  const rows: [string, string][] = [
    ['from', sourceText(explanation)],
    ['kind', [kind, ...features].join(', ')],
    ['ids', formatText(explanation)],
    ...(rate === undefined ? [] : rateRows(rate, numbers!)),
    ...(borrow === undefined ? [] : [['borrows', borrowText(borrow)] as [string, string]]),
    ...(slots === undefined ? [] : [['slots', slotsText(slots)] as [string, string]]),
    ...(period === undefined ? [] : [['period', `${period.start} to ${period.end}`] as [string, string]]),
    ['decided', decidedText(explanation)],
    ...explanation.buckets.map(({ key, slot }): [string, string] => ['Redis key', `${key}, slot ${slot} of a cluster`]),
  ];
  const width = Math.max(...rows.map(([label]) => label.length));
  const title = `${limit}${id === null ? '' : ` ${shownId(id)}`}: ${stateText(explanation)}`;
  return [title, ...rows.map(([label, text]) => `  ${label.padEnd(width)}  ${text}`)];
}

/** Returns one line about a limit. */
export function summaryLine(explanation: Explanation, width: number): string {
  const { limit, kind, features } = explanation;
  return `${limit.padEnd(width)}  ${stateText(explanation)} (${[kind, ...features].join(', ')}; ids: ${formatText(explanation)})`;
}

function formatText({ idFormat }: Explanation): string {
  return idFormat === 'missing' ? 'no idFormat' : idFormat;
}

function stateText({ state, kind, per, numbers }: Explanation): string {
  if (state !== 'counted') return state;
  return numbersText({ kind, per, ...(numbers ?? { burst: 0, count: 0, periodMs: 0 }) });
}

function sourceText({ id, override, endedOverride: ended, features, kind, per, insteadOf }: Explanation): string {
  if (features.includes('disabled')) return 'the limit, which is disabled';
  if (id === null) return 'the limit; give an id to see whether an override applies';
  if (override === null)
    return `the limit: ${ended === null ? 'no override is listed for the id' : `the override for ${shownId(ended)} has ended`}`;
  const listed = override === id ? 'an override for the id' : `an override for ${groupText(override, id)}`;
  return insteadOf === undefined ? listed : `${listed}, instead of ${numbersText({ kind, per, ...insteadOf })}`;
}

function groupText(override: string, id: string): string {
  return id.startsWith(`${override}:`) ? `all ids that begin with ${override}` : `the network ${override}`;
}

function rateRows(rate: RateFacts, { burst }: Numbers): [string, string][] {
  const { tokenMs, fullAfterMs, maxDebt, maxWaitMs } = rate;
  const windows = [
    [rate.mostPerMinute, 'minute'],
    [rate.mostPerHour, 'hour'],
    [rate.mostPerDay, 'day'],
  ] as const;
  const most = windows.filter(([tokens]) => tokens > burst).map(([tokens, window]) => `${tokens} in any ${window}`);
  return [
    ['T', `one token every ${durationText(tokenMs)}`],
    ['burst', `${burst} at once; an empty bucket is full after ${durationText(fullAfterMs)}`],
    ...(most.length === 0 ? [] : [['at most', most.join(', ')] as [string, string]]),
    ...(maxDebt === 0 ? [] : [['debt', `a charge may take up to ${maxDebt} tokens more`] as [string, string]]),
    ...(maxWaitMs === 0 ? [] : [['queue', queueText(maxWaitMs, tokenMs)] as [string, string]]),
  ];
}

function queueText(maxWaitMs: number, tokenMs: number): string {
  return `a request waits up to ${durationText(maxWaitMs)}: at most ${Math.floor(maxWaitMs / tokenMs)} wait`;
}

function borrowText({ from, ceiling, fair, weight }: BorrowFacts): string {
  const most = numbersText({ kind: 'rate', per: null, ...ceiling });
  return `from ${from} up to ${most} in all${fair ? `, shared by weight (${weight})` : ''}`;
}

function slotsText({ expiryMs, scope }: NonNullable<Explanation['slots']>): string {
  if (scope === 'process') return 'counted in each process';
  return `slots of a process that died are free again after ${durationText(expiryMs)}`;
}

function decidedText({ kind, state, features, overshoot, numbers }: Explanation): string {
  if (state !== 'counted') return 'at once, without the store';
  if (kind === 'load' || features.includes('in each process')) return 'in each process, without a store';
  if (overshoot === undefined) return 'exactly, by the store';
  const most = numbers === undefined ? '' : `, at most ${Math.floor(overshoot * numbers.burst)} tokens above the limit`;
  return `with leasedStore in each process${most}; with other stores exactly`;
}
