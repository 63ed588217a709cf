/**
 * A time in which the processes are divided into parts that do not reach each other. Process i is in the part i modulo
 * `parts`, and a store that they share is in part 0.
 */
export interface Partition {
  readonly parts: number;
  readonly fromMicros: number;
  /** When the parts reach each other again. */
  readonly toMicros: number;
}

/** Returns the part of a process at a moment, from 0: that with the store. While there is no partition, all are in it. */
export function partOf(process: number, atMicros: number, partition: Partition | undefined): number {
  const isParted = partition !== undefined && partition.fromMicros <= atMicros && atMicros < partition.toMicros;
  return isParted ? process % partition.parts : 0;
}
