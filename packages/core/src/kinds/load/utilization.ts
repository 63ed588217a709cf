import type { EventLoopUtilityFunction } from 'node:perf_hooks';
import { SluiceError } from '../../checks/errors.ts';
import { nodeModule } from '../../runtime/node-module.ts';

/**
 * Returns a function that returns how busy the event loop was since its last call, from 0 (idle) to 1.
 *
 * It is the utilization of an interval. The delay of timers does not tell a loop that is busy for 60 % of the time from
 * one that is busy for 95 %, and the utilization since the start of the process hardly moves after some hours.
 *
 * @see https://nodejs.org/api/perf_hooks.html#performanceeventlooputilizationutilization1-utilization2
 */
export function intervalUtilization(read: EventLoopUtilityFunction = eventLoopUtilization()): () => number {
  let previous = read();
  return () => {
    const current = read();
    const { utilization } = read(current, previous);
    previous = current;
    return utilization;
  };
}

/**
 * Returns the function of Node that reads what its event loop did.
 *
 * @throws {SluiceError} `ERR_OPTION` in a runtime without one, such as a browser or a Worker.
 */
export function eventLoopUtilization(): EventLoopUtilityFunction {
  const read = nodeModule('node:perf_hooks')?.performance.eventLoopUtilization;
  if (typeof read === 'function') return read;
  const remedy = 'Give a load of your own: loadFrom(() => used / size).';
  throw new SluiceError(
    'ERR_OPTION',
    `eventLoop() needs Node: this runtime does not tell what its event loop does. ${remedy}`,
  );
}
