// oxlint-disable-next-line no-restricted-imports -- what the event loop did is no time: only the loop itself has it
import { performance, type EventLoopUtilityFunction } from 'node:perf_hooks';

/**
 * Returns a function that returns how busy the event loop was since its last call, from 0 (idle) to 1.
 *
 * It is the utilization of an interval. The delay of timers does not tell a loop that is busy for 60 % of the time from
 * one that is busy for 95 %, and the utilization since the start of the process hardly moves after some hours.
 *
 * @see https://nodejs.org/api/perf_hooks.html#performanceeventlooputilizationutilization1-utilization2
 */
export function intervalUtilization(read: EventLoopUtilityFunction = performance.eventLoopUtilization): () => number {
  let previous = read();
  return () => {
    const current = read();
    const { utilization } = read(current, previous);
    previous = current;
    return utilization;
  };
}
