import { SluiceError, type StoreReport } from '@sluice/core';
import { expect, test } from 'vitest';
import { ConnectionReports } from '../../src/client/connection-reports.ts';

const cause = new SluiceError('ERR_STORE_UNAVAILABLE', 'gone');
const down = { type: 'down', cause };
const up = { type: 'up' };

function watched() {
  const reports = new ConnectionReports();
  const told: StoreReport[] = [];
  const end = reports.watch((report) => told.push(report));
  const note = (open: readonly boolean[], downCause?: SluiceError): void => {
    const list = open.map((isOpen) => ({
      server: 'a:1',
      isOpen,
      isHealthy: isOpen,
      lastError: undefined,
      clockUncertaintyMs: undefined,
    }));
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
