import type { TextKind } from '../spellings/text-kind.ts';
import { fits, patternForms, WILDCARD, type PatternForm } from '../spellings/text-pattern.ts';

/** A form of a pattern with wildcards, and what it leads to. */
interface WildcardBranch<Branch> {
  readonly form: PatternForm;
  /** Whether it is compared with what follows a text, too. */
  readonly hasRest: boolean;
  /** Whether any text may follow, so that only the spelling itself is compared: `/a/*` is what is below `/a`. */
  readonly isOpen: boolean;
  readonly branch: Branch;
}

/**
 * What texts of one kind lead to: that of their own pattern, otherwise of the first pattern with wildcards that they fit,
 * otherwise that of any text.
 */
export class PatternBranches<Branch> {
  readonly #kind: TextKind;
  /** All by their pattern. */
  readonly #written = new Map<string, Branch>();
  /** The branches of patterns without wildcards by their forms. */
  readonly #exact = new Map<string, Branch>();
  /** In the order of the file. */
  readonly #wildcards: WildcardBranch<Branch>[] = [];
  any: Branch | undefined;

  constructor(kind: TextKind) {
    this.#kind = kind;
  }

  /** Returns the branch of a pattern, which is made if there is none. */
  branchOf(pattern: string, make: () => Branch): Branch {
    const forms = patternForms(this.#kind, pattern);
    const written = forms[0].join(WILDCARD);
    const known = this.#written.get(written);
    if (known !== undefined) return known;
    const branch = make();
    this.#written.set(written, branch);
    forms.forEach((form, i) => this.#add(form, i === 0, branch));
    return branch;
  }

  #add(form: PatternForm, isWritten: boolean, branch: Branch): void {
    const [text] = form;
    if (form.length > 1) {
      const { restMark } = this.#kind;
      const hasRest = restMark !== undefined && form.some((part) => part.includes(restMark));
      this.#wildcards.push({ form, hasRest, isOpen: form.at(-1) === '', branch });
    } else if (isWritten || !this.#exact.has(text)) this.#exact.set(text, branch);
  }

  /** Returns the branch of one spelling. */
  of(spelling: string, rest: string): Branch | undefined {
    if (rest !== '') {
      const whole = this.#exact.get(spelling + rest);
      if (whole !== undefined) return whole;
    }
    const equals = this.#kind.equals(spelling);
    for (const text of equals) {
      const branch = this.#exact.get(text);
      if (branch !== undefined) return branch;
    }
    for (const { form, hasRest, isOpen, branch } of this.#wildcards) {
      if (hasRest) {
        if (fits(spelling + rest, form)) return branch;
      } else if (isOpen ? fits(spelling, form) : equals.some((text) => fits(text, form))) return branch;
    }
    return this.any;
  }

  /**
   * Returns the branches of all spellings of a text, all different: undefined among them if one leads nowhere, or may.
   *
   * @param onUnknown - Called if not all spellings are known, so that these are all branches.
   */
  ofAny(text: string, onUnknown: () => void): readonly (Branch | undefined)[] {
    const { texts, areAll, rest } = this.#kind.spellings(text);
    if (texts.length === 1 && areAll) return [this.of(texts[0]!, rest)];
    const branches = new Set(texts.map((spelling) => this.of(spelling, rest)));
    if (areAll) return [...branches];
    onUnknown();
    for (const branch of this.#written.values()) branches.add(branch);
    return [...branches.add(this.any).add(undefined)];
  }
}
