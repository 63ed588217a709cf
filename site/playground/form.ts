import { NAMES, SECOND_LIMIT, type Case, type TypedLimit } from './case.ts';
import { element } from './element.ts';
import { problemOf, type Problem } from './problem.ts';

/** The inputs of a case, beside its timeline. */
export interface Form {
  readonly element: HTMLElement;
  read(): Pick<Case, 'limits' | 'cost'>;
  write(given: Pick<Case, 'limits' | 'cost'>): void;
  /** Shows what is wrong with the limits and with the cost, each beside its input; an empty text for nothing. */
  showMistakes(ofLimits: string, ofCost: string): void;
}

const LABELS: Readonly<Record<keyof TypedLimit, readonly [label: string, hint: string]>> = {
  burst: ['Burst', 'at once; empty: the count'],
  count: ['Count', 'tokens that come back in each period'],
  period: ['Period', 'such as 1s or 1m'],
  maxWait: ['Queue', 'longest wait, such as 2s; empty: none'],
};

/** @param changed - Called after each change by the user. */
export function caseForm(changed: () => void): Form {
  const [first, second] = [limitInputs('First limit', ''), limitInputs('Second limit', '2')];
  const both = element('input', { type: 'checkbox', id: 'playground-both' });
  const cost = element('input', { id: 'playground-cost', inputmode: 'numeric', autocomplete: 'off', size: '4' });
  const costProblem = problemOf(cost);
  const showSecond = (): void => void (second.element.hidden = !both.checked);
  const form = element(
    'form',
    { class: 'case', 'aria-label': 'Limits' },
    first.element,
    element(
      'p',
      {},
      both,
      element('label', { for: both.id }, ' Two limits together: a request takes from both or from none'),
    ),
    second.element,
    element('p', { class: 'row' }, element('label', { for: cost.id }, 'Cost of a request'), cost),
    costProblem.element,
  );
  form.addEventListener('submit', (event) => event.preventDefault());
  form.addEventListener('input', () => {
    showSecond();
    changed();
  });
  return {
    element: form,
    read: () => ({ limits: both.checked ? [first.read(), second.read()] : [first.read()], cost: cost.value }),
    write(given) {
      const [one, other] = given.limits;
      first.write(one!);
      second.write(other ?? SECOND_LIMIT);
      both.checked = other !== undefined;
      cost.value = given.cost;
      showSecond();
    },
    showMistakes(ofLimits, ofCost) {
      // The messages of core begin with the option: `limits.Sustained.period`.
      const [, name = NAMES[0], field = ''] = /^`limits\.(\w+)\.(\w+)`/.exec(ofLimits) ?? [];
      first.showMistake(field, name === NAMES[0] ? ofLimits : '');
      second.showMistake(field, name === NAMES[0] ? '' : ofLimits);
      costProblem.show(ofCost);
    },
  };
}

interface LimitInputs {
  readonly element: HTMLElement;
  read(): TypedLimit;
  write(given: TypedLimit): void;
  /** Shows a mistake beside the input of a field, or beside the first. */
  showMistake(field: string, message: string): void;
}

interface Field {
  readonly name: keyof TypedLimit;
  readonly input: HTMLInputElement;
  readonly problem: Problem;
  readonly elements: readonly HTMLElement[];
}

function limitInputs(legend: string, suffix: string): LimitInputs {
  const names = Object.keys(LABELS) as (keyof TypedLimit)[];
  const fields = names.map((name) => inputOf(name, suffix));
  const fieldset = element(
    'fieldset',
    {},
    element('legend', {}, legend),
    ...fields.flatMap(({ elements }) => elements),
  );
  return {
    element: fieldset,
    read() {
      const [burst = '', count = '', period = '', maxWait = ''] = fields.map(({ input }) => input.value);
      return { burst, count, period, maxWait };
    },
    write(given) {
      for (const { name, input } of fields) input.value = given[name];
    },
    showMistake(field, message) {
      const wrong = fields.find(({ name }) => name === field) ?? fields[0];
      for (const each of fields) each.problem.show(each === wrong ? message : '');
    },
  };
}

function inputOf(name: keyof TypedLimit, suffix: string): Field {
  const id = `playground-${name}${suffix}`;
  const [label, hint] = LABELS[name];
  const input = element('input', { id, autocomplete: 'off', 'aria-describedby': `${id}-hint`, size: '6' });
  const about = element('span', { id: `${id}-hint`, class: 'hint' }, hint);
  const problem = problemOf(input);
  const field = element('div', { class: 'field' }, element('label', { for: id }, label), input, about);
  return { name, input, problem, elements: [field, problem.element] };
}
