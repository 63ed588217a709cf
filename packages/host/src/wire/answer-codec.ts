import { SluiceError } from '@sluice/core';
import { reasonOf } from '@sluice/core/kit';
import { endOfPeriod, StalePeriodError, type StoreReading, type StoreTransaction } from '@sluice/core/store';
import type { Frame } from './frame.ts';
import type { FrameWriter } from './frame-writer.ts';
import { decodeList, type HostOperation } from './operation-codec.ts';

const READ = 0;
const READ_IN_PERIODS = 1;
const STALE = 2;
const EXPIRED = 3;
const FAILED = 4;
const HELD = 5;

/** A reading, and to `holders` who holds slots of each bucket. */
export interface HostReading extends StoreReading {
  readonly holders?: readonly (readonly string[])[];
}

export function encodeReading(writer: FrameWriter, reading: HostReading): void {
  if (reading.holders !== undefined) return encodeHolders(writer, reading.holders);
  const { passed, nowTicks, levelsTicks, bucketNowTicks, bucketWallMs } = reading;
  writer.number(bucketNowTicks === undefined ? READ : READ_IN_PERIODS);
  // That of other operations than `spend` and `check` has no meaning.
  writer.number(passed ?? -1);
  writer.number(nowTicks);
  writer.number(levelsTicks.length);
  for (let i = 0; i < levelsTicks.length; i++) {
    writer.number(levelsTicks[i]!);
    if (bucketNowTicks === undefined) continue;
    writer.number(bucketNowTicks[i]!);
    // NaN is not a time, so it stands for a bucket without a period.
    writer.number(bucketWallMs?.[i] ?? NaN);
  }
}

function encodeHolders(writer: FrameWriter, holders: readonly (readonly string[])[]): void {
  writer.number(HELD);
  writer.number(holders.length);
  for (const each of holders) {
    writer.number(each.length);
    for (const holder of each) writer.text(holder);
  }
}

/** Answers an operation that was not executed because its caller does not wait for it any more. */
export function encodeExpired(writer: FrameWriter): void {
  writer.number(EXPIRED);
}

export function encodeError(writer: FrameWriter, error: unknown): void {
  if (error instanceof StalePeriodError) {
    writer.number(STALE);
    writer.number(error.wallMs);
    return;
  }
  writer.number(FAILED);
  writer.text(reasonOf(error));
}

/**
 * Returns the reading, or the error with which the operation failed; undefined if it was not executed because its
 * deadline had passed.
 *
 * @throws {Error} If it is malformed.
 */
export function decodeAnswer(frame: Frame, operation: HostOperation): HostReading | SluiceError | undefined {
  const status = frame.number();
  switch (status) {
    case READ:
    case READ_IN_PERIODS:
      return decodeReading(frame, status === READ_IN_PERIODS);
    case HELD:
      return { nowTicks: 0, levelsTicks: [], holders: decodeList(frame, () => decodeList(frame, () => frame.text())) };
    case STALE:
      return staleError(operation, frame.number());
    case EXPIRED:
      return undefined;
    case FAILED:
      return new SluiceError('ERR_STORE_UNAVAILABLE', `The process that serves the buckets failed: ${frame.text()}`);
    default:
      throw new Error('sent an unknown answer');
  }
}

function decodeReading(frame: Frame, isInPeriods: boolean): StoreReading {
  const passed = frame.number();
  const nowTicks = frame.number();
  const levelsTicks: number[] = [];
  const bucketNowTicks: number[] = [];
  const bucketWallMs: (number | undefined)[] = [];
  for (let left = frame.count(); left > 0; left--) {
    levelsTicks.push(frame.number());
    if (!isInPeriods) continue;
    bucketNowTicks.push(frame.number());
    const wallMs = frame.number();
    bucketWallMs.push(Number.isNaN(wallMs) ? undefined : wallMs);
  }
  const reading = { passed, nowTicks, levelsTicks };
  return isInPeriods ? { ...reading, bucketNowTicks, bucketWallMs } : reading;
}

function staleError(operation: HostOperation, wallMs: number): SluiceError {
  const entries = 'alternatives' in operation ? operation.alternatives.flat() : operation.batch;
  for (const { period } of entries as readonly Pick<StoreTransaction, 'period'>[]) {
    if (period !== undefined && endOfPeriod(period, wallMs) === undefined) return new StalePeriodError(period, wallMs);
  }
  return new SluiceError('ERR_STORE_ANSWER', 'The process that serves the buckets rejected periods that are current.');
}
