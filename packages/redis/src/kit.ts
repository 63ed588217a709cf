/**
 * What the other packages of the family share with this one: processes with leases on a simulated clock. It may change in
 * any version; users need none of it.
 *
 * @module
 */
export type { LeaseNumbers, NotLeased } from './leases/rules/lease-numbers.ts';
export {
  simulateLeases,
  type SimulatedLeasesOptions,
  type SimulatedProcesses,
} from './simulated/simulated-processes.ts';
