import { Tally } from '../../events/throttle.ts';
import type { Alarm } from '../../time/time.ts';
import { ShareClasses } from './classes.ts';
import { cohortLeftMs, cohortOf } from './cohort.ts';
import { Level } from './level.ts';
import { enabledFailed, signalFailed, type FailureEvent } from './load-events.ts';
import type { LoadSettings } from './load-options.ts';
import type { LoadSource, LoadUse, LoadUser } from './load-source.ts';
import { booleanFrom, signalFrom } from './readings.ts';
import { Shedding } from './shedding.ts';

/**
 * A late reading counts as at most a second, or two intervals if that is longer. So after a stall of the event loop, or
 * when a suspended machine wakes up, one reading does not move the level as many would have.
 */
const MAX_ELAPSED_MS = 1000;
const MAX_INTERVALS = 2;

/**
 * After so many intervals without a reading, the next request takes one. In one turn, the event loop handles all requests
 * that have arrived, and timers run only after it. Far above its capacity, a turn takes many seconds.
 */
const LATE_INTERVALS = 1.5;

/** The timer takes no reading when a request has just taken one. */
const SHORTEST_INTERVALS = 0.5;

/** A source whose signal is read at an interval while it is used. */
export class SampledLoad implements LoadSource {
  readonly #settings: LoadSettings;
  readonly #beginReading: () => () => unknown;
  readonly #users = new Map<LoadUser, Shedding>();
  readonly #failedSignals = new Tally((count, cause) => this.#emit(signalFailed, count, cause));
  readonly #failedSwitches = new Tally((count, cause) => this.#emit(enabledFailed, count, cause));
  readonly #classes: ShareClasses;
  #sampling: Sampling | undefined;
  #isOn = true;
  #level: Level;

  /** @param beginReading - Called when the source begins to be used. Returns the function that reads the signal. */
  constructor(settings: LoadSettings, beginReading: () => () => unknown) {
    this.#settings = settings;
    this.#beginReading = beginReading;
    this.#classes = new ShareClasses(settings.classes);
    this.#level = new Level(settings.ramp);
  }

  get level(): number {
    return this.#level.value;
  }

  start({ limit, time, emit }: LoadUser): LoadUse {
    // A copy: one limiter may use the source for several limits, or twice for one.
    const user: LoadUser = { limit, time, emit };
    const shedding = new Shedding(user);
    this.#users.set(user, shedding);
    if (this.#sampling === undefined) this.#sampleBy(user);
    return {
      sheds: (id, share) => {
        this.#classes.add(share);
        if (this.#sampling !== undefined && this.#isLate(this.#sampling)) this.#sample();
        const part = this.#classes.shedPart(this.level, share);
        const isShed = part > 0 && (part === 1 || cohortOf(id, time.wallNow()) < part);
        if (isShed) shedding.add(this.level);
        return isShed;
      },
      retryAfterMs: (id) => cohortLeftMs(id, time.wallNow()),
      stop: () => this.#stop(user),
    };
  }

  #stop(user: LoadUser): void {
    this.#users.get(user)?.end();
    this.#users.delete(user);
    if (this.#sampling?.user !== user) return;
    this.#sampling.alarm?.cancel();
    this.#sampling = undefined;
    const [next] = this.#users.keys();
    if (next !== undefined) return this.#sampleBy(next);
    this.#level = new Level(this.#settings.ramp);
  }

  /** Reads the signal by the time of one user, from now on. */
  #sampleBy(user: LoadUser): void {
    const read = this.#beginReading();
    this.#sampling = { user, read, alarm: this.#alarm(user), atMicros: user.time.nowMicros() };
  }

  #isLate({ alarm }: Sampling): boolean {
    return this.#intervalsSinceReading() >= (alarm === undefined ? 1 : LATE_INTERVALS);
  }

  #alarm({ time }: LoadUser): Alarm | undefined {
    if (time.timersEndWithRequest === true) return undefined;
    const alarm = time.alarm(this.#settings.everyMs, () => {
      const intervals = this.#intervalsSinceReading();
      // Below 0 when the clock has stepped back.
      if (intervals < 0 || intervals >= SHORTEST_INTERVALS) this.#sample();
      const sampling = this.#sampling;
      // A user's function may have closed the limiter.
      if (sampling?.alarm === alarm) sampling.alarm = this.#alarm(sampling.user);
    });
    alarm.unref();
    return alarm;
  }

  #intervalsSinceReading(): number {
    const { user, atMicros } = this.#sampling!;
    return (user.time.nowMicros() - atMicros) / (1000 * this.#settings.everyMs);
  }

  #sample(): void {
    const sampling = this.#sampling!;
    const nowMicros = sampling.user.time.nowMicros();
    const elapsedMs = this.#countedMs(nowMicros - sampling.atMicros);
    // Now, because a user's function may ask the limiter, which would read again.
    sampling.atMicros = nowMicros;
    const reading = this.#readSignal(sampling, nowMicros);
    const isOn = this.#readSwitch(nowMicros);
    // A user's function may have closed the limiter.
    if (this.#sampling !== sampling) return;
    this.#level.move(reading, elapsedMs, this.#classes.lastBegins);
    if (!isOn) this.#level.reset();
    if (this.level > 0) return;
    for (const shedding of this.#users.values()) shedding.end();
  }

  #countedMs(elapsedMicros: number): number {
    const mostMs = Math.max(MAX_ELAPSED_MS, MAX_INTERVALS * this.#settings.everyMs);
    return Math.min(mostMs, Math.max(0, elapsedMicros / 1000));
  }

  #readSignal({ read }: Sampling, nowMicros: number): number {
    try {
      return signalFrom(read());
    } catch (cause) {
      this.#failedSignals.add(1, cause, nowMicros);
      return 0;
    }
  }

  #readSwitch(nowMicros: number): boolean {
    const { isEnabled } = this.#settings;
    try {
      if (isEnabled !== undefined) this.#isOn = booleanFrom(isEnabled());
    } catch (cause) {
      this.#failedSwitches.add(1, cause, nowMicros);
    }
    return this.#isOn;
  }

  #emit(event: FailureEvent, count: number, cause: unknown): void {
    for (const { limit, emit } of this.#users.keys()) emit(event(limit, count, cause));
  }
}

interface Sampling {
  /** The one whose time is used. */
  readonly user: LoadUser;
  readonly read: () => unknown;
  /** Undefined where timers end with the request that set them: there, requests alone take readings. */
  alarm: Alarm | undefined;
  /** When the signal was read, or the sampling began. */
  atMicros: number;
}
