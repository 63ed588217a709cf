import type { TextKind } from '../spellings/text-kind.ts';

/** What texts of one kind lead to: that of their own pattern, otherwise of the first prefix, otherwise that of any text. */
export class PatternBranches<Branch> {
  readonly #kind: TextKind;
  /** All by their pattern. */
  readonly #written = new Map<string, Branch>();
  /** Those of exact patterns by their forms. */
  readonly #exact = new Map<string, Branch>();
  /** In the order of the file. */
  readonly #prefixes: { readonly prefix: string; readonly hasRest: boolean; readonly branch: Branch }[] = [];
  any: Branch | undefined;

  constructor(kind: TextKind) {
    this.#kind = kind;
  }

  /** Returns the branch of a pattern, which is made if there is none. */
  branchOf(value: string, isPrefix: boolean, make: () => Branch): Branch {
    const forms = this.#kind.forms(value, isPrefix);
    const written = forms[0]! + (isPrefix ? '*' : '');
    const known = this.#written.get(written);
    if (known !== undefined) return known;
    const branch = make();
    this.#written.set(written, branch);
    forms.forEach((form, i) => this.#add(form, { isPrefix, isOwn: i === 0, branch }));
    return branch;
  }

  #add(
    form: string,
    { isPrefix, isOwn, branch }: { readonly isPrefix: boolean; readonly isOwn: boolean; readonly branch: Branch },
  ): void {
    const { restMark } = this.#kind;
    const hasRest = restMark !== undefined && form.includes(restMark);
    if (isPrefix) this.#prefixes.push({ prefix: form, hasRest, branch });
    else if (isOwn || !this.#exact.has(form)) this.#exact.set(form, branch);
  }

  /** Returns the branch of one spelling. */
  of(spelling: string, rest: string): Branch | undefined {
    if (rest !== '') {
      const whole = this.#exact.get(spelling + rest);
      if (whole !== undefined) return whole;
    }
    for (const text of this.#kind.equals(spelling)) {
      const branch = this.#exact.get(text);
      if (branch !== undefined) return branch;
    }
    const found = this.#prefixes.find(({ prefix, hasRest }) =>
      (hasRest ? spelling + rest : spelling).startsWith(prefix),
    );
    return found?.branch ?? this.any;
  }

  /** Returns the branches of all spellings of a text, all different: undefined among them if one leads nowhere, or may. */
  ofAny(text: string): readonly (Branch | undefined)[] {
    const { texts, areAll, rest } = this.#kind.spellings(text);
    if (texts.length === 1 && areAll) return [this.of(texts[0]!, rest)];
    const branches = new Set(texts.map((spelling) => this.of(spelling, rest)));
    if (areAll) return [...branches];
    for (const branch of this.#written.values()) branches.add(branch);
    return [...branches.add(this.any).add(undefined)];
  }
}
