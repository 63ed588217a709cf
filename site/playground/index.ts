import { caseOf, hashOf } from './address.ts';
import { answerView } from './answer.ts';
import { FIRST_CASE, MOST_ARRIVALS, type Case } from './case.ts';
import { copiedText } from './copied-text.ts';
import { checkedCost, Core, type Step } from './core.ts';
import { button, element } from './element.ts';
import { caseForm } from './form.ts';
import { pictureOf } from './picture.ts';
import { PRESETS } from './presets.ts';
import { problemOf } from './problem.ts';
import { sendButton } from './send-button.ts';
import { codeOf, yamlOf } from './snippets.ts';
import { arrivalsOf, timelineOf } from './timeline.ts';
import { comparedWith } from './windows.ts';
// oxlint-disable-next-line import/no-unassigned-import -- a style sheet has no exports
import './style.css';

const LEGEND =
  '● passes, × is denied, ──● waits and passes. Dashed lines are the ends of windows, which have the count and the period of the limit.';

/** Browsers limit how often a page may write its address. */
const ADDRESS_MS = 400;

/**
 * Shows the playground in an element. The case is in the hash of the address.
 *
 * @returns A function that ends it: nothing runs or listens afterwards.
 */
export function mount(root: HTMLElement): () => void {
  return new Playground(root).end;
}

class Playground {
  readonly #ended = new AbortController();
  readonly #form = caseForm(() => this.#changed());
  readonly #timeline = element('textarea', {
    id: 'playground-timeline',
    rows: '3',
    spellcheck: 'false',
    'aria-describedby': 'playground-timeline-hint',
  });
  readonly #timelineProblem = problemOf(this.#timeline);
  readonly #undecided = element('p', { role: 'status' });
  readonly #decisions = element('div');
  readonly #picture = element('div', { class: 'picture' });
  readonly #answer = answerView((index) => this.#select(index));
  readonly #code = copiedText('TypeScript');
  readonly #yaml = copiedText('YAML');
  #arrivals: Case['arrivals'] = [];
  #decided: { readonly core: Core; readonly steps: readonly Step[] } | undefined;
  #selected = 0;
  /** The moment on the timeline at which `performance.now()` was 0; undefined until a request is sent by hand. */
  #originMs: number | undefined;
  #frame = 0;
  #addressTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(root: HTMLElement) {
    root.classList.add('playground');
    root.replaceChildren(this.#controls(), this.#results());
    const { signal } = this.#ended;
    this.#timeline.addEventListener('input', () => this.#changed());
    addEventListener('hashchange', () => this.#show(caseOf(location.hash) ?? FIRST_CASE), { signal });
    addEventListener('resize', () => this.#draw(), { signal });
    this.#show(caseOf(location.hash) ?? FIRST_CASE);
  }

  readonly end = (): void => {
    this.#ended.abort();
    clearTimeout(this.#addressTimer);
    cancelAnimationFrame(this.#frame);
  };

  #controls(): HTMLElement {
    const presets = PRESETS.map(([label, shown]) => button(label, () => this.#show(shown, true)));
    const label = element('label', { for: this.#timeline.id }, 'Timeline');
    const hint = element(
      'span',
      { id: 'playground-timeline-hint', class: 'hint' },
      'Seconds or dates; 1.5x3 or 1.5×3: three requests at 1.5 s; 2*5: one with a cost of 5.',
    );
    return element(
      'div',
      { class: 'controls' },
      element('p', { class: 'row presets', role: 'group', 'aria-label': 'Examples' }, ...presets),
      this.#form.element,
      element(
        'p',
        { class: 'row' },
        sendButton(() => this.#send()),
        button('Clear', () => this.#clear()),
        element('span', { class: 'hint' }, 'Hold it to send ten a second.'),
      ),
      element('div', { class: 'timeline' }, label, this.#timeline, hint, this.#timelineProblem.element),
    );
  }

  #results(): HTMLElement {
    this.#decisions.append(
      this.#picture,
      element('p', { class: 'hint' }, LEGEND),
      this.#answer.element,
      this.#code.element,
      this.#yaml.element,
    );
    return element('div', { class: 'results' }, this.#undecided, this.#decisions);
  }

  /** Shows a case: of the address, or, when it was chosen here, one to write there. */
  #show(given: Case, isChosen = false): void {
    this.#originMs = undefined;
    this.#form.write(given);
    this.#timeline.value = timelineOf(given.arrivals);
    this.#selected = Math.max(0, given.arrivals.length - 1);
    this.#decide();
    if (isChosen) this.#writeAddress();
  }

  #changed(): void {
    this.#originMs = undefined;
    this.#decide();
    this.#select(Math.min(this.#selected, this.#arrivals.length - 1));
    this.#writeAddress();
  }

  #clear(): void {
    this.#timeline.value = '';
    this.#changed();
  }

  /** Sends a request now. A timeline that was typed continues from its last request. */
  #send(): void {
    const last = this.#arrivals.at(-1)?.atMs ?? 0;
    this.#originMs ??= last - performance.now() + (this.#arrivals.length === 0 ? 0 : 500);
    if (this.#decided === undefined || this.#arrivals.length === MOST_ARRIVALS) return;
    const atMs = Math.max(last, Math.round(performance.now() + this.#originMs));
    this.#timeline.value = timelineOf([...this.#arrivals, { atMs, cost: checkedCost(this.#form.read().cost) }]);
    this.#selected = this.#arrivals.length;
    this.#decide();
    this.#writeAddress();
    cancelAnimationFrame(this.#frame);
    this.#animate();
  }

  #select(index: number): void {
    this.#selected = Math.max(0, index);
    this.#draw();
  }

  #decide(): void {
    const { limits, cost } = this.#form.read();
    const core = triedTo(() => new Core({ limits }));
    const arrivals = triedTo(() => arrivalsOf(this.#timeline.value));
    const costs = triedTo(() => checkedCost(cost));
    this.#form.showMistakes(core.mistake, costs.mistake);
    this.#timelineProblem.show(arrivals.mistake);
    if (arrivals.made !== undefined) this.#arrivals = arrivals.made;
    if (core.made === undefined || arrivals.made === undefined || costs.made === undefined) this.#showNothing();
    else this.#showDecided(core.made, { limits, cost });
  }

  #showDecided(core: Core, shown: Pick<Case, 'limits' | 'cost'>): void {
    this.#decided = { core, steps: core.decide(this.#arrivals) };
    this.#undecided.textContent = '';
    this.#decisions.style.visibility = '';
    this.#code.show(codeOf(shown));
    this.#yaml.show(yamlOf(shown));
    this.#draw();
  }

  /** Hides what the last numbers have decided. It keeps its room, so that nothing moves while a number is typed. */
  #showNothing(): void {
    this.#decided = undefined;
    this.#undecided.textContent = 'Nothing is decided: correct the marked field.';
    this.#decisions.style.visibility = 'hidden';
  }

  #draw(): void {
    if (this.#decided === undefined) return;
    const { core, steps } = this.#decided;
    const selected = Math.min(this.#selected, steps.length - 1);
    const atMs = this.#originMs === undefined ? (steps[selected]?.atMs ?? 0) : performance.now() + this.#originMs;
    const compared = comparedWith(core.limits, steps);
    const width = Math.max(280, this.#picture.clientWidth);
    this.#picture.replaceChildren(pictureOf({ limits: core.limits, steps, compared, selected, atMs, width }));
    this.#answer.show(steps, selected);
  }

  /** Draws the buckets while they fill, after requests that were sent by hand. */
  #animate(): void {
    this.#draw();
    const last = this.#decided?.steps.at(-1);
    if (this.#originMs === undefined || last === undefined) return;
    const fullMs = last.atMs + Math.min(30_000, Math.max(0, ...last.left.map((left) => left?.fullAfterMs ?? 0)));
    if (performance.now() + this.#originMs < fullMs) this.#frame = requestAnimationFrame(() => this.#animate());
  }

  #writeAddress(): void {
    clearTimeout(this.#addressTimer);
    this.#addressTimer = setTimeout(() => {
      const { limits, cost } = this.#form.read();
      history.replaceState(history.state, '', `#${hashOf({ limits, cost, arrivals: this.#arrivals })}`);
    }, ADDRESS_MS);
  }
}

/** What a function has made of typed texts, or what is wrong with them. */
function triedTo<T>(make: () => T): { readonly made: T | undefined; readonly mistake: string } {
  try {
    return { made: make(), mistake: '' };
  } catch (error) {
    return { made: undefined, mistake: error instanceof Error ? error.message : String(error) };
  }
}
