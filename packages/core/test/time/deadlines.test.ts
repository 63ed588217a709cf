import { describe, expect, test } from 'vitest';
import { Deadlines } from '../../src/time/deadlines.ts';
import { DeadlinePromise } from '../../src/time/deadline-queue.ts';
import { CountedTime } from '../support/counted-time.ts';
import { deferred, settled } from '../support/promises.ts';

const late = () => new Error('late');
const never = () => new Promise<never>(() => {});

function deadlines(deadlineMs = 50) {
  const time = new CountedTime();
  return { time, deadlines: new Deadlines(deadlineMs, time) };
}

/** A pending outcome that tells when its promise has missed the deadline. */
class Telling extends DeadlinePromise<never> {
  readonly accept = unexpected;
  readonly fail = unexpected;
  readonly miss: () => void;

  constructor(miss: () => void) {
    super();
    this.miss = miss;
  }
}

function unexpected(): never {
  throw new Error('the promise never settles');
}

/** What has become of a promise so far. */
function watch<T>(promise: Promise<T>) {
  const seen: { value?: T; error?: unknown } = {};
  promise.then(
    (value) => (seen.value = value),
    (error: unknown) => (seen.error = error),
  );
  return seen;
}

describe('a promise with a deadline', () => {
  test('gives its value when it settles in time', async () => {
    const { deadlines: all } = deadlines();
    await expect(all.race(Promise.resolve('value'), late)).resolves.toBe('value');
  });

  test('gives its rejection when it rejects in time', async () => {
    const { deadlines: all } = deadlines();
    await expect(all.race(Promise.reject(new Error('own')), late)).rejects.toThrow('own');
  });

  test('rejects with the given error at the deadline, and not before', async () => {
    const { deadlines: all, time } = deadlines();
    const seen = watch(all.race(never(), late));
    await time.pass(49);
    expect(seen).toEqual({});
    await time.pass(1);
    expect(seen.error).toEqual(new Error('late'));
  });

  test('makes no error when it settles in time', async () => {
    const { deadlines: all, time } = deadlines();
    let made = 0;
    await all.race(Promise.resolve(), () => (made += 1));
    await time.pass(100);
    expect(made).toBe(0);
  });

  test('is ignored after its deadline, whether it resolves or rejects', async () => {
    const { deadlines: all, time } = deadlines();
    const one = deferred<string>();
    const other = deferred<string>();
    const seen = [watch(all.race(one.promise, late)), watch(all.race(other.promise, late))];
    await time.pass(50);
    one.resolve('too late');
    other.reject(new Error('too late as well'));
    await settled();
    expect(seen).toEqual([{ error: new Error('late') }, { error: new Error('late') }]);
  });

  test('may be any object with a `then`, even one that throws', async () => {
    const { deadlines: all, time } = deadlines();
    const broken: PromiseLike<string> = {
      // oxlint-disable-next-line unicorn/no-thenable -- this is what is tested
      then() {
        throw new Error('from then');
      },
    };
    await expect(all.race(broken, late)).rejects.toThrow('from then');
    expect(time.pending).toBe(0);
  });

  test('may have a `then` of its own that throws', async () => {
    const { deadlines: all, time } = deadlines();
    const broken = Promise.resolve('value');
    // oxlint-disable-next-line unicorn/no-thenable -- this is what is tested
    broken.then = () => {
      throw new Error('from then');
    };
    await expect(all.race(broken, late)).rejects.toThrow('from then');
    expect([all.waiting, time.pending]).toEqual([0, 0]);
  });
});

describe('many promises', () => {
  test('share one timer', () => {
    const { deadlines: all, time } = deadlines();
    for (let i = 0; i < 100; i++) watch(all.race(never(), late));
    expect(all.waiting).toBe(100);
    expect(time.pending).toBe(1);
  });

  test('each miss their own deadline', async () => {
    const { deadlines: all, time } = deadlines();
    const first = watch(all.race(never(), late));
    await time.pass(20);
    const second = watch(all.race(never(), late));
    await time.pass(30);
    expect([first.error, second.error]).toEqual([new Error('late'), undefined]);
    await time.pass(19);
    expect(second).toEqual({});
    await time.pass(1);
    expect(second.error).toEqual(new Error('late'));
  });

  test('that are added after the oldest has settled still have their whole time', async () => {
    const { deadlines: all, time } = deadlines();
    const first = deferred<string>();
    watch(all.race(first.promise, late));
    await time.pass(30);
    const second = watch(all.race(never(), late));
    first.resolve('done');
    await time.pass(49);
    expect(second).toEqual({});
    await time.pass(1);
    expect(second.error).toEqual(new Error('late'));
  });

  test('are swept again when the timer fires a fraction of a millisecond early', async () => {
    const { deadlines: all, time } = deadlines();
    time.step(0.4);
    const seen = watch(all.race(never(), late));
    time.step(-0.4);
    await time.pass(50);
    expect(seen).toEqual({});
    await time.pass(1);
    expect(seen.error).toEqual(new Error('late'));
  });
});

describe('the callback of a missed deadline', () => {
  test('may have another promise followed, which has its whole time', async () => {
    const { deadlines: all, time } = deadlines();
    const missed: string[] = [];
    const follow = (miss: () => void) => void all.follow(never(), new Telling(miss));
    follow(() => {
      missed.push('first');
      follow(() => missed.push('second'));
    });
    await time.pass(99);
    expect(missed).toEqual(['first']);
    await time.pass(1);
    expect([missed, time.pending]).toEqual([['first', 'second'], 0]);
  });

  test('may expire all others, which are called once', async () => {
    const { deadlines: all, time } = deadlines();
    const missed: string[] = [];
    const follow = (miss: () => void) => void all.follow(never(), new Telling(miss));
    follow(() => {
      missed.push('first');
      all.expireAll();
    });
    follow(() => missed.push('second'));
    await time.pass(1000);
    expect([missed, all.waiting, time.pending]).toEqual([['first', 'second'], 0, 0]);
  });

  test('may throw, and the others are called nevertheless', async () => {
    const { deadlines: all, time } = deadlines();
    const missed: string[] = [];
    const follow = (miss: () => void) => void all.follow(never(), new Telling(miss));
    follow(() => {
      throw new Error('from outside');
    });
    follow(() => missed.push('second'));
    await expect(time.pass(50)).rejects.toThrow('from outside');
    await time.pass(1);
    follow(() => missed.push('third'));
    await time.pass(50);
    expect(missed).toEqual(['second', 'third']);
  });
});

test('a timer that was taken away while nothing waited is made anew by the next wait', async () => {
  const { deadlines: all, time } = deadlines();
  await all.race(Promise.resolve(), late);
  time.loseTimers();
  time.step(50);
  const seen = watch(all.race(never(), late));
  await time.pass(50);
  expect(seen.error).toEqual(new Error('late'));
});

describe('after a stall of the process', () => {
  test('an answer that is already there wins over the deadline', async () => {
    const { deadlines: all, time } = deadlines();
    const answer = deferred<string>();
    const seen = watch(all.race(answer.promise, late));
    time.endOfTurn(() => answer.resolve('answer'));
    await time.stall(100);
    expect(seen.value).toBe('answer');
  });

  test('what has no answer misses its deadline at once', async () => {
    const { deadlines: all, time } = deadlines();
    const seen = watch(all.race(never(), late));
    await time.stall(100);
    expect(seen.error).toEqual(new Error('late'));
  });

  test('a promise that becomes due during the grace has a grace of its own', async () => {
    const { deadlines: all, time } = deadlines();
    const answer = deferred<string>();
    watch(all.race(never(), late));
    await time.pass(30);
    const seen = watch(all.race(answer.promise, late));
    time.endOfTurn(() => time.step(40));
    await time.pass(20);
    expect(seen).toEqual({});
    time.endOfTurn(() => answer.resolve('answer'));
    await time.pass(10);
    expect(seen.value).toBe('answer');
  });
});

test('one promise after the other makes no timer after the other', async () => {
  const { deadlines: all, time } = deadlines();
  for (let i = 0; i < 10; i++) {
    await all.race(Promise.resolve(), late);
    await time.pass(4);
  }
  expect(time.alarms).toBe(1);
  const seen = watch(all.race(never(), late));
  await time.pass(49);
  expect(seen).toEqual({});
  await time.pass(1);
  expect(seen.error).toEqual(new Error('late'));
});

describe('no timer is left that keeps the process alive', () => {
  test('while nothing waits', async () => {
    const { deadlines: all, time } = deadlines();
    expect(time.pending).toBe(0);
    await all.race(Promise.resolve(), late);
    expect(time.pending).toBe(0);
  });

  test('when all have missed their deadlines', async () => {
    const { deadlines: all, time } = deadlines();
    watch(all.race(never(), late));
    await time.pass(50);
    expect([all.waiting, time.pending]).toEqual([0, 0]);
  });

  test('when the last one settles during the grace', async () => {
    const { deadlines: all, time } = deadlines();
    const answer = deferred<void>();
    watch(all.race(answer.promise, late));
    let left: number | undefined;
    time.endOfTurn(() => {
      answer.resolve();
      // Between input and immediates, once the promise's callbacks have run.
      process.nextTick(() => queueMicrotask(() => (left = time.pending)));
    });
    await time.pass(50);
    expect(left).toBe(0);
  });

  test('when all that wait are expired', async () => {
    const { deadlines: all, time } = deadlines();
    const seen = [watch(all.race(never(), late)), watch(all.race(never(), late))];
    all.expireAll();
    expect([all.waiting, time.pending]).toEqual([0, 0]);
    await settled();
    expect(seen).toEqual([{ error: new Error('late') }, { error: new Error('late') }]);
  });

  test('but while a promise waits that came after an idle time, one is', async () => {
    const { deadlines: all, time } = deadlines();
    await all.race(Promise.resolve(), late);
    watch(all.race(never(), late));
    expect(time.pending).toBe(1);
  });

  test('and it expires when nothing is added', async () => {
    const { deadlines: all, time } = deadlines();
    await all.race(Promise.resolve(), late);
    await time.pass(1000);
    expect(time.alarms).toBe(1);
  });

  test('and the next promise arms one again', async () => {
    const { deadlines: all, time } = deadlines();
    watch(all.race(never(), late));
    await time.pass(50);
    const next = watch(all.race(never(), late));
    await time.pass(50);
    expect(next.error).toEqual(new Error('late'));
  });
});

test('a promise with an infinite deadline is only followed: no clock is read and no timer is set', async () => {
  const { deadlines: all, time } = deadlines(Infinity);
  time.reads = 0;
  await expect(all.race(Promise.resolve('value'), late)).resolves.toBe('value');
  const seen = watch(all.race(never(), late));
  await time.pass(100_000);
  expect([seen, all.waiting, time.pending, time.alarms]).toEqual([{}, 1, 0, 0]);
  all.expireAll();
  await settled();
  expect(seen.error).toEqual(new Error('late'));
});
