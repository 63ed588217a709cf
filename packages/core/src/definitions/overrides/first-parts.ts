import type { Now } from './override-ends.ts';

/** The first parts of ids, in their canonical spelling: `4321` of `4321:example.com`. */
export class FirstParts {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

const SEPARATOR = ':';

/** Maps first parts of ids to values: an id has the value of the most parts that it begins with. */
export class FirstPartsMap<Value extends object | string> {
  readonly #values = new Map<string, Value>();
  #mostParts = 1;

  get({ text }: FirstParts): Value | undefined {
    return this.#values.get(text);
  }

  set({ text }: FirstParts, value: Value): void {
    this.#values.set(text, value);
    this.#mostParts = Math.max(this.#mostParts, text.split(SEPARATOR).length);
  }

  /** Returns the most parts that have a value and that an id begins with. */
  listedFor(id: string, now: Now<Value>): string | undefined {
    let found: string | undefined;
    let end = -1;
    for (let parts = 0; parts < this.#mostParts; parts++) {
      end = id.indexOf(SEPARATOR, end + 1);
      if (end === -1) break;
      const text = id.slice(0, end);
      if (now(this.#values.get(text))) found = text;
    }
    return found;
  }

  lookUp(id: string, now: Now<Value>): Value | undefined {
    // Nothing is listed for undefined.
    return now(this.#values.get(this.listedFor(id, now) as string));
  }
}
