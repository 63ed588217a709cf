import { SECOND_LIMIT, type Case, type TypedLimit } from './case.ts';
import { element } from './element.ts';

/** The inputs of a case, beside its timeline. */
export interface Form {
  readonly element: HTMLElement;
  read(): Pick<Case, 'limits' | 'cost'>;
  write(given: Pick<Case, 'limits' | 'cost'>): void;
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
  };
}

interface LimitInputs {
  readonly element: HTMLElement;
  read(): TypedLimit;
  write(given: TypedLimit): void;
}

function limitInputs(legend: string, suffix: string): LimitInputs {
  const names = Object.keys(LABELS) as (keyof TypedLimit)[];
  const inputs = names.map((name) => {
    const id = `playground-${name}${suffix}`;
    const [label, hint] = LABELS[name];
    const input = element('input', { id, autocomplete: 'off', 'aria-describedby': `${id}-hint`, size: '6' });
    const about = element('span', { id: `${id}-hint`, class: 'hint' }, hint);
    return { input, field: element('div', { class: 'field' }, element('label', { for: id }, label), input, about) };
  });
  const fieldset = element('fieldset', {}, element('legend', {}, legend), ...inputs.map(({ field }) => field));
  return {
    element: fieldset,
    read() {
      const [burst = '', count = '', period = '', maxWait = ''] = inputs.map(({ input }) => input.value);
      return { burst, count, period, maxWait };
    },
    write(given) {
      names.forEach((name, i) => (inputs[i]!.input.value = given[name]));
    },
  };
}
