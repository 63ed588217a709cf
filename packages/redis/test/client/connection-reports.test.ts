import { SluiceError } from '@sluice/core';
import type { StoreReport } from '@sluice/core/store';
import { expect, test } from 'vitest';
import { ConnectionReports } from '../../src/client/connection-reports.ts';

const cause = new SluiceError('ERR_STORE_UNAVAILABLE', 'gone');
const down = { type: 'down', cause };
const up = { type: 'up' };

const serverOf = (isOpen: boolean, isHealthy = isOpen) => {
  return { server: 'a:1', isOpen, isHealthy, lastError: undefined, clockUncertaintyMs: undefined };
};

function watched() {
  const reports = new ConnectionReports();
  const [first, second] = [serverOf(false), serverOf(false)];
  const told: StoreReport[] = [];
  const end = reports.watch((report) => told.push(report));
  const note = (open: readonly boolean[], downCause?: SluiceError): void => {
    const list = open.map((isOpen, i) => Object.assign(i === 0 ? first : second, { isOpen, isHealthy: isOpen }));
    reports.note({ list: () => list, downCause });
  };
  return { reports, told, end, note };
}

test('a lost connection is not reported until an attempt to make it again has failed, and then once', () => {
  const { told, note } = watched();
  note([true]);
  note([false]);
  expect(told).toEqual([up]);
  note([false], cause);
  note([false]);
  note([false], cause);
  expect(told).toEqual([up, down]);
});

test('a connection is reported each time that it is open again, also if it was not reported as lost', () => {
  const { told, note } = watched();
  for (const isOpen of [true, true, false, true]) note([isOpen]);
  expect(told).toEqual([up, up]);
});

test('of several servers each one that opens is reported, but not one that closes while others are open', () => {
  const { told, note } = watched();
  note([false, false], cause);
  note([true, false]);
  note([true, true]);
  note([false, true]);
  expect(told).toEqual([down, up, up]);
});

test('a listener that is added while no server can be reached is called at once, a later one is not', () => {
  const { reports, note } = watched();
  note([false], cause);
  const late: StoreReport[] = [];
  reports.watch((report) => late.push(report));
  expect(late).toEqual([down]);
  note([true]);
  reports.watch((report) => late.push(report));
  expect(late).toEqual([down, up]);
});

test('nothing is reported after the end of a listener, or of the client', () => {
  const { reports, told, end, note } = watched();
  const other: StoreReport[] = [];
  reports.watch((report) => other.push(report));
  end();
  note([true]);
  reports.close();
  note([false], cause);
  expect([told, other]).toEqual([[], [up]]);
});

test('a server that opens in the place of one that is gone is reported', () => {
  const { reports, told } = watched();
  const [first, second] = [serverOf(true), serverOf(true)];
  reports.note({ list: () => [first], downCause: undefined });
  reports.note({ list: () => [second], downCause: undefined });
  expect(told).toEqual([up, up]);
});

test('a server that was open and rejects writes is not reported until it executes the script again', () => {
  const { reports, told } = watched();
  const server = serverOf(true);
  const note = (change: Partial<typeof server>, downCause?: SluiceError): void => {
    Object.assign(server, change);
    reports.note({ list: () => [server], downCause });
  };
  note({});
  for (let i = 0; i < 3; i++) {
    note({ isOpen: false, isHealthy: false });
    note({ isOpen: true });
  }
  expect(told).toEqual([up]);
  note({ isHealthy: true });
  expect(told).toEqual([up, up]);
});

test('a server that can be reached again after it could not is reported, also if it rejected a write before', () => {
  const { reports, told } = watched();
  reports.note({ list: () => [serverOf(false)], downCause: cause });
  reports.note({ list: () => [serverOf(true, false)], downCause: undefined });
  expect(told).toEqual([down, up]);
  const late: StoreReport[] = [];
  reports.watch((report) => late.push(report));
  expect(late).toEqual([]);
});
