import { createContext, runInContext } from 'node:vm';
import { beforeAll, expect, test } from 'vitest';
import { bundled } from './bundled.ts';
import { results } from './program.ts';

/** What browsers and Workers have, and nothing of Node. What is forbidden while a Worker is loaded is recorded. */
class Runtime {
  readonly #early: string[] = [];
  readonly #context = createContext({
    TextEncoder,
    URL,
    btoa,
    performance: { now: () => performance.now() },
    crypto: { getRandomValues: this.#recorded('crypto.getRandomValues', crypto.getRandomValues.bind(crypto)) },
    // oxlint-disable-next-line no-restricted-globals -- the timers of the other runtime
    setTimeout: this.#recorded('setTimeout', setTimeout),
    clearTimeout,
  });

  /** @returns What the bundle did while it was loaded. */
  load(bundle: string): readonly string[] {
    runInContext(`const random = Math.random; Math.random = () => { throw new Error('Math.random'); };`, this.#context);
    runInContext(bundle, this.#context);
    runInContext('Math.random = random;', this.#context);
    return [...this.#early];
  }

  run(expression: string): unknown {
    return runInContext(expression, this.#context);
  }

  #recorded<Args extends unknown[], Result>(name: string, call: (...args: Args) => Result): (...args: Args) => Result {
    return (...args) => {
      this.#early.push(name);
      return call(...args);
    };
  }
}

let bundle: string;
beforeAll(async () => {
  bundle = await bundled('program.ts');
});

test('core decides without Node as it does in Node, and says the same of wrong options', async () => {
  const runtime = new Runtime();
  runtime.load(bundle);
  const elsewhere: unknown = JSON.parse((await runtime.run('bundle.results()')) as string);
  expect(elsewhere).toEqual(JSON.parse(await results()));
});

test('core reads no random number and sets no timer while it is loaded and a limiter is created', () => {
  expect(new Runtime().load(bundle)).toEqual([]);
});

test('the process’s own time works where there are no immediates', async () => {
  const runtime = new Runtime();
  runtime.load(bundle);
  expect(await runtime.run('bundle.ownTime()')).toEqual('allowed, denied, allowed');
});
