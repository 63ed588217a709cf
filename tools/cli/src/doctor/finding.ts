// The room doctor: what would fail later on a server, found before.

/** Whether all is well, something is worth knowing, or something will fail. */
type Verdict = 'ok' | 'note' | 'wrong';

/** What was found by one look at a server. */
export interface Finding {
  /** What was looked at: one word or two. */
  readonly check: string;
  readonly verdict: Verdict;
  /** What is there, in words. */
  readonly found: string;
  /** What to do about it. */
  readonly remedy?: string;
}

/** All that was found on one server, or on the whole. */
export interface Examined {
  /** `host:port`; undefined for what concerns the whole. */
  readonly server?: string;
  readonly findings: readonly Finding[];
}

/** Creates findings of one check. */
export class Check {
  readonly #check: string;

  constructor(check: string) {
    this.#check = check;
  }

  ok(found: string): Finding {
    return { check: this.#check, verdict: 'ok', found };
  }

  note(found: string, remedy?: string): Finding {
    return { check: this.#check, verdict: 'note', found, ...(remedy !== undefined && { remedy }) };
  }

  wrong(found: string, remedy: string): Finding {
    return { check: this.#check, verdict: 'wrong', found, remedy };
  }
}
