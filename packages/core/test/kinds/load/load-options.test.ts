import { describe, expect, test } from 'vitest';
import { checkedLoad, eventLoop, loadFrom } from '../../../src/kinds/load/sources.ts';
import type { LoadOptions } from '../../../src/kinds/load/load-options.ts';
import { thrown } from '../../support/thrown.ts';
import { used } from './sampled.ts';

describe('wrong options of a load', () => {
  test.each<[options: unknown, code: string, text: string]>([
    [null, 'ERR_OPTION', '`eventLoop` must be an object, but was null. For example eventLoop({ busy: 0.8 }).'],
    [{ calm: 0 }, 'ERR_OPTION', '`eventLoop.calm` must be a number above 0 and below 1, but was 0.'],
    [{ calm: '0.7' }, 'ERR_OPTION', '`eventLoop.calm` must be a number above 0 and below 1'],
    [{ busy: 1 }, 'ERR_OPTION', '`eventLoop.busy` must be a number above 0 and below 1, but was 1.'],
    [{ busy: 80 }, 'ERR_OPTION', '`eventLoop.busy` must be a number above 0 and below 1, but was 80.'],
    [{ busy: NaN }, 'ERR_OPTION', '`eventLoop.busy` must be a number above 0 and below 1, but was NaN.'],
    [{ calm: 0.8 }, 'ERR_OPTION', '`eventLoop.calm` must be below `busy`, 0.8, but was 0.8. The level stays while'],
    [{ busy: 0.5 }, 'ERR_OPTION', '`eventLoop.calm` must be below `busy`, 0.5, but was 0.7.'],
    [
      { rise: 3 },
      'ERR_DURATION',
      '`eventLoop.rise` must be a duration of whole microseconds from 500 ms to 10 minutes',
    ],
    [{ rise: '499ms' }, 'ERR_DURATION', '`eventLoop.rise`'],
    [{ rise: '11m' }, 'ERR_DURATION', '`eventLoop.rise`'],
    [{ fall: '999ms' }, 'ERR_DURATION', '`eventLoop.fall` must be a duration of whole microseconds from 1 second'],
    [{ fall: '61m' }, 'ERR_DURATION', '`eventLoop.fall`'],
    [{ every: '99ms' }, 'ERR_DURATION', '`eventLoop.every` must be a duration of whole microseconds from 100 ms'],
    [{ every: '61s' }, 'ERR_DURATION', '`eventLoop.every`'],
    [{ every: '4s' }, 'ERR_OPTION', "`eventLoop.every` must be at most `rise`, '3s', but was '4s'."],
    [{ every: 5000, rise: 4000 }, 'ERR_OPTION', '`eventLoop.every` must be at most `rise`, 4000, but was 5000.'],
    [{ classes: 0 }, 'ERR_OPTION', '`eventLoop.classes` must be a whole number from 1 to 100, but was 0.'],
    [{ classes: 101 }, 'ERR_OPTION', '`eventLoop.classes`'],
    [{ enabled: true }, 'ERR_OPTION', '`eventLoop.enabled` must be a function, but was true.'],
    [{ bussy: 0.9 }, 'ERR_UNKNOWN_OPTION', 'Did you mean `busy`?'],
    [{ maxEventLoopUtilization: 0.98 }, 'ERR_UNKNOWN_OPTION', 'is `busy` here'],
  ])('%o are rejected', (options, code, text) => {
    const error = thrown(() => eventLoop(options as LoadOptions));
    expect(error.code).toBe(code);
    expect(error.message).toContain(text);
  });

  test('are named by the function that has got them', () => {
    const error = thrown(() => loadFrom(() => 0, { busy: 2 }));
    expect(error.message).toContain('`loadFrom.busy` must be');
    expect(thrown(() => loadFrom(() => 0, 7 as LoadOptions)).message).toContain('loadFrom(fn, { busy: 0.8 })');
  });

  test('the bounds themselves are right, and what is left out or undefined has its default', () => {
    expect(eventLoop({ rise: '500ms', every: '500ms', fall: '1s', classes: 1 }).level).toBe(0);
    expect(eventLoop({ rise: '10m', every: '60s', fall: '1h', classes: 100 }).level).toBe(0);
    expect(eventLoop({ every: '100ms', calm: Number.MIN_VALUE, busy: 1 - Number.EPSILON }).level).toBe(0);
    expect(eventLoop({ calm: undefined, rise: undefined, enabled: undefined }).level).toBe(0);
  });

  test('a value in place of a function is rejected', () => {
    const error = thrown(() => loadFrom(0.5 as never));
    expect(error.code).toBe('ERR_OPTION');
    expect(error.message).toBe(
      '`loadFrom(read)` must be a function, but was 0.5. For example loadFrom(() => pool.used / pool.size).',
    );
  });
});

describe('the load of a limit', () => {
  test('is a source', () => {
    const source = eventLoop();
    expect(checkedLoad('limits.Worker.load', source)).toBe(source);
  });

  test('is a source of another copy of the package', () => {
    const source = { level: 0, start: () => null };
    expect(checkedLoad('limits.Worker.load', source)).toBe(source);
  });

  test('is a function, with the defaults: the same source for all limits with this function', () => {
    let signal = 1;
    const read = (): number => signal;
    const source = checkedLoad('limits.A.load', read);
    expect(checkedLoad('limits.B.load', read)).toBe(source);
    expect(checkedLoad('limits.C.load', () => 0)).not.toBe(source);
    const { time } = used(source);
    const plain = loadFrom(() => signal);
    const other = used(plain);
    for (const [next, ms] of [
      [1, 2000],
      [0.75, 2000],
      [0.3, 20_000],
    ] as const) {
      // prettier-ignore
      signal = next;
      time.advance(ms);
      other.time.advance(ms);
      expect(source.level).toBe(plain.level);
    }
  });

  test.each([
    undefined,
    null,
    0.8,
    true,
    'eventLoop',
    {},
    { level: 0 },
    { start: () => null },
    [],
    eventLoop,
    loadFrom,
  ])('%o is rejected', (value) => {
    const error = thrown(() => checkedLoad('limits.Worker.load', value));
    expect(error.code).toBe('ERR_OPTION');
    expect(error.message).toContain('`limits.Worker.load` must be a source such as eventLoop(), or a function');
    expect(error.message).toContain('Write load: eventLoop()');
  });
});
