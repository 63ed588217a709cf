import { element } from './element.ts';

/** The line beside an input that says what is wrong with it. */
export interface Problem {
  readonly element: HTMLElement;
  /** Shows a mistake; an empty text for none. */
  show(message: string): void;
}

/** @param input - Described by the line, beside what describes it already. */
export function problemOf(input: HTMLInputElement | HTMLTextAreaElement): Problem {
  const line = element('p', { id: `${input.id}-problem`, class: 'problem', role: 'alert' });
  input.setAttribute('aria-describedby', `${input.getAttribute('aria-describedby') ?? ''} ${line.id}`.trim());
  return {
    element: line,
    show(message) {
      if (line.textContent !== message) line.textContent = message;
      if (message === '') input.removeAttribute('aria-invalid');
      else input.setAttribute('aria-invalid', 'true');
    },
  };
}
