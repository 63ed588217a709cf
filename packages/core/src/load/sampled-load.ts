import { Tally } from '../events/throttle.ts';
import type { Alarm } from '../time/time.ts';
import { cohortLeftMs, cohortOf } from './cohort.ts';
import { shedPart } from './classes.ts';
import { enabledFailed, signalFailed, type FailureEvent } from './load-events.ts';
import type { LoadSettings } from './load-options.ts';
import type { LoadSource, LoadUse, LoadUser } from './load-source.ts';
import { movedLevel, smoothed } from './ramp.ts';
import { booleanFrom, signalFrom } from './readings.ts';

/**
 * A late reading counts as at most a second, or two intervals if that is longer. So after a stall of the event loop, or
 * when a suspended machine wakes up, one reading does not move the level as many would have.
 */
const MAX_ELAPSED_MS = 1000;
const MAX_INTERVALS = 2;

/** A source whose signal is read by a timer while it is used. */
export class SampledLoad implements LoadSource {
  readonly #settings: LoadSettings;
  readonly #beginReading: () => () => unknown;
  readonly #users = new Set<LoadUser>();
  readonly #failedSignals = new Tally((count, cause) => this.#emit(signalFailed, count, cause));
  readonly #failedSwitches = new Tally((count, cause) => this.#emit(enabledFailed, count, cause));
  #sampling: Sampling | undefined;
  #isOn = true;
  #signal = 0;
  #level = 0;

  /** @param beginReading - Called when the source begins to be used. Returns the function that reads the signal. */
  constructor(settings: LoadSettings, beginReading: () => () => unknown) {
    this.#settings = settings;
    this.#beginReading = beginReading;
  }

  get level(): number {
    return this.#level;
  }

  start({ limit, time, emit }: LoadUser): LoadUse {
    // A copy: one limiter may use the source for several limits, or twice for one.
    const user: LoadUser = { limit, time, emit };
    const { classes } = this.#settings;
    this.#users.add(user);
    if (this.#sampling === undefined) this.#sampleBy(user);
    return {
      sheds: (id, share) => {
        const part = shedPart(this.#level, share, classes);
        return part > 0 && (part === 1 || cohortOf(id, time.wallNow()) < part);
      },
      retryAfterMs: (id) => cohortLeftMs(id, time.wallNow()),
      stop: () => this.#stop(user),
    };
  }

  #stop(user: LoadUser): void {
    this.#users.delete(user);
    if (this.#sampling?.user !== user) return;
    this.#sampling.alarm.cancel();
    this.#sampling = undefined;
    const [next] = this.#users;
    if (next !== undefined) return this.#sampleBy(next);
    this.#level = 0;
    this.#signal = 0;
  }

  /** Reads the signal by the time of one user, from now on. */
  #sampleBy(user: LoadUser): void {
    const read = this.#beginReading();
    this.#sampling = { user, read, alarm: this.#alarm(user), atMicros: user.time.nowMicros() };
  }

  #alarm({ time }: LoadUser): Alarm {
    const alarm = time.alarm(this.#settings.everyMs, () => this.#sample());
    alarm.unref();
    return alarm;
  }

  #sample(): void {
    const sampling = this.#sampling!;
    const nowMicros = sampling.user.time.nowMicros();
    const reading = this.#readSignal(sampling, nowMicros);
    const isOn = this.#readSwitch(nowMicros);
    // A user's function may have closed the limiter.
    if (this.#sampling !== sampling) return;
    const elapsedMs = this.#countedMs(nowMicros - sampling.atMicros);
    this.#signal = smoothed(this.#signal, reading, elapsedMs);
    this.#level = isOn ? movedLevel(this.#level, this.#signal, elapsedMs, this.#settings.ramp) : 0;
    sampling.atMicros = nowMicros;
    sampling.alarm = this.#alarm(sampling.user);
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
    for (const { limit, emit } of this.#users) emit(event(limit, count, cause));
  }
}

interface Sampling {
  /** The one whose time is used. */
  readonly user: LoadUser;
  readonly read: () => unknown;
  alarm: Alarm;
  /** When the signal was read, or the sampling began. */
  atMicros: number;
}
