import { nodeModule } from '../runtime/node-module.ts';
import { endTimersWithRequest } from '../runtime/request-timers.ts';
import type { Alarm, Cancel, Time } from './time.ts';

/** The timers of the process. */
export interface Timers {
  alarm(this: void, delayMs: number, run: () => void): Alarm;
  endOfTurn(this: void, run: () => void): Cancel;
  /** Like `endOfTurn`, and cannot be cancelled. */
  afterInput(this: void, run: () => void): void;
}

/** What is used of `performance`. */
type Clock = Pick<typeof performance, 'now'>;

/** The functions that a runtime has, or that a test runner has put in their place. Browsers have no immediates. */
export type TimerFunctions = Pick<typeof globalThis, 'setTimeout' | 'clearTimeout'> &
  Partial<Pick<typeof globalThis, 'setImmediate' | 'clearImmediate'>>;

/**
 * Returns the real timers of the process.
 *
 * A server answers in real time. If a test that fakes the timers of its process also stopped those that send calls, and
 * those of their deadlines, no decision on a server would ever settle.
 *
 * Usually this is called before any test begins, and the functions are real. If they are already fake, as with
 * `enableGlobally` of Jest or in a set-up file, those of Node's own module may be real; if not, there are a timer and a
 * message of Web APIs, which runners do not fake.
 */
export function realTimers(given: TimerFunctions = globalThis): Timers {
  const real = [given, nodeModule('node:timers')].find((functions) => functions !== undefined && !areFake(functions));
  return real === undefined ? WEB_TIMERS : timersOf(real);
}

/** Returns the clock `performance`, the real one even when a test runner has faked it. */
function realClock(given: Clock = performance): Clock {
  return isFake(given) ? (nodeModule('node:perf_hooks')?.performance ?? given) : given;
}

function areFake({ setTimeout, setImmediate }: TimerFunctions): boolean {
  return isFake(setTimeout) || isFake(setImmediate);
}

/**
 * The fakes of Vitest, Jest and Sinon are those of `@sinonjs/fake-timers`, which have a property `clock`. Those of
 * `node:test` are bound private methods, and the legacy ones of Jest are mock functions.
 */
function isFake(given: object | undefined): boolean {
  if (given === undefined) return false;
  if (Object.hasOwn(given, 'clock') || Object.hasOwn(given, '_isMockFunction')) return true;
  return typeof given === 'function' && given.name.startsWith('bound #');
}

// Taken out of their object: the functions of a browser refuse to be called as methods of another one.
function timersOf({ setTimeout, clearTimeout, setImmediate, clearImmediate }: TimerFunctions): Timers {
  return {
    alarm(delayMs, run) {
      // In a browser or a test environment with its own `window`, such as jsdom, timers are numbers and keep nothing alive.
      const timer: Partial<NodeJS.Timeout> = setTimeout(run, delayMs);
      return {
        ref: () => timer.ref?.(),
        unref: () => timer.unref?.(),
        cancel: () => clearTimeout(timer as NodeJS.Timeout),
      };
    },
    // The event loop of Node runs timers, then socket callbacks, then immediates. Browsers have timers alone.
    endOfTurn(run) {
      if (setImmediate === undefined) {
        const timer = setTimeout(run, 0);
        return () => clearTimeout(timer);
      }
      const immediate = setImmediate(run);
      return () => clearImmediate?.(immediate);
    },
    afterInput: setImmediate ?? ((run) => void setTimeout(run, 0)),
  };
}

/** They keep no process alive. */
const WEB_TIMERS: Timers = {
  alarm(delayMs, run) {
    const signal = AbortSignal.timeout(Math.ceil(Math.max(1, delayMs)));
    signal.addEventListener('abort', run);
    return { ref() {}, unref() {}, cancel: () => signal.removeEventListener('abort', run) };
  },
  endOfTurn(run) {
    let isCancelled = false;
    WEB_TIMERS.afterInput(() => {
      if (!isCancelled) run();
    });
    return () => void (isCancelled = true);
  },
  afterInput(run) {
    const { port1, port2 } = new MessageChannel();
    port1.addEventListener('message', () => {
      port1.close();
      run();
    });
    port1.start();
    port2.postMessage(undefined);
  },
};

// In Node, `performance` is a getter of the global object, which costs more than it looks.
const clock = realClock();

const timers = realTimers();

/**
 * The process's own time: `performance.now()`, which is independent of the wall clock, of NTP corrections and of time
 * zones; `Date.now()`; and its timers. On Linux, `performance.now()` stands still while the machine is suspended: tokens
 * come back later then, and never sooner.
 *
 * Fake timers of a test runner do not move it, apart from the wall clock: see docs/testing.md.
 */
export const systemTime: Time = {
  nowMicros: () => Math.floor(clock.now() * 1000),
  wallNow: () => Date.now(),
  alarm: timers.alarm,
  endOfTurn: timers.endOfTurn,
  timersEndWithRequest: endTimersWithRequest(),
};

/** Calls `run` once, directly after the event loop has processed the input that has already arrived. */
export const afterInput: Timers['afterInput'] = timers.afterInput;
