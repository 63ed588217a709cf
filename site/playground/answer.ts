import { element } from './element.ts';
import type { Step } from './core.ts';

/** The answer to one request, as a client gets it, and a list to choose the request from. */
export interface AnswerView {
  readonly element: HTMLElement;
  show(steps: readonly Step[], selected: number): void;
}

/** @param choose - Called with the index of a request. */
export function answerView(choose: (index: number) => void): AnswerView {
  const range = element('input', { type: 'range', id: 'playground-request', min: '1', step: '1' });
  const said = element('output', { class: 'said', for: range.id, 'aria-live': 'polite' });
  const response = element('pre', { class: 'response', tabindex: '0', 'aria-label': 'Response' });
  range.addEventListener('input', () => choose(Number(range.value) - 1));
  return {
    element: element(
      'section',
      { 'aria-label': 'Answer' },
      element('p', { class: 'row' }, element('label', { for: range.id }, 'Request'), range),
      element('p', {}, said),
      response,
    ),
    show(steps, selected) {
      const step = steps[selected];
      range.max = String(Math.max(1, steps.length));
      range.value = String(selected + 1);
      range.disabled = steps.length < 2;
      said.textContent =
        step === undefined
          ? 'No request was sent yet.'
          : `Request ${selected + 1} of ${steps.length}: ${sentenceOf(step)}`;
      response.textContent = step === undefined ? ' ' : responseOf(step);
    },
  };
}

function sentenceOf({ atMs, status, delayMs, retryAfterMs, cost }: Step): string {
  const at = `at ${seconds(atMs)}${cost === 1 ? '' : ` with a cost of ${cost}`}`;
  if (status === 400) return `${at}, it can never pass.`;
  if (status === 429) return `${at}, denied. The same request passes in ${seconds(retryAfterMs)}.`;
  return delayMs > 0 ? `${at}, it waits for ${seconds(delayMs)} and passes.` : `${at}, it passes.`;
}

function seconds(ms: number): string {
  return `${Math.ceil(ms) / 1000} s`;
}

const REASONS = { 200: 'OK', 400: 'Bad Request', 429: 'Too Many Requests' } as const;

function responseOf({ status, fields, body }: Step): string {
  const head = [`HTTP/1.1 ${status} ${REASONS[status]}`, ...fields.map(([name, value]) => `${name}: ${value}`)];
  return `${head.join('\n')}\n${body === '' ? '' : `\n${body}\n`}`;
}
